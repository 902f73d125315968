// Package cricket is cricket's face to HTTP: its routes, their OpenAPI document, its topics, what it tells operators, and the pages
// over httpapi/cricket/page. New fills in one httpapi.App; rules and services are in edge/cricket.
package cricket
