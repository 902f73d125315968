// The page of the API's description. Nothing is asked of other hosts: validatorUrl would send the document to one.
window.ui = SwaggerUIBundle({
  url: document.getElementById("docs").dataset.document,
  dom_id: "#docs",
  validatorUrl: null,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  presets: [SwaggerUIBundle.presets.apis],
});
