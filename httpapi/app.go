package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// getRoot says what answers here, to whoever looks for it.
func (s *Server) getRoot(c *gin.Context) error {
	return writeJSON(c, map[string]string{
		"name": "sightscreen", "version": s.cfg.Version,
		"openapi": s.address(atApp, "/openapi.yaml"), "health": s.address(atApp, "/health"),
	})
}

type statusAnswer struct {
	Status string `json:"status"`
}

func (s *Server) getHealth(c *gin.Context) error {
	return answerWith(c, http.StatusOK, statusAnswer{"ok"})
}

// getHealthReady is /readyz in the application's words.
func (s *Server) getHealthReady(c *gin.Context) error {
	for _, check := range s.checks(c.Request.Context()) {
		if check.Err != nil {
			return notReady([]string{check.Name})
		}
	}
	return answerWith(c, http.StatusOK, statusAnswer{"ready"})
}

// appConfig is what an app asks for when it starts.
type appConfig struct {
	MinVersion  string `json:"minAppVersion"`
	StoreURL    string `json:"storeUrl"`
	Maintenance bool   `json:"maintenanceMode"`
}

func (s *Server) getAppConfig(c *gin.Context) error { return writeJSON(c, appConfig(s.cfg.App)) }
