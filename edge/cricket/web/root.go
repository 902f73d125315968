package web

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi"
)

// getRoot describes the application.
func (a *api) getRoot(c *gin.Context) error {
	return httpapi.JSON(c, map[string]string{
		"name": "sightscreen", "version": a.Version, "openapi": a.address("/openapi.yaml"), "health": a.address("/health"),
	}, nil)
}

type statusAnswer struct {
	Status string `json:"status"`
}

func getHealth(c *gin.Context) error {
	return httpapi.Answer(c, http.StatusOK, statusAnswer{"ok"}, nil)
}

// getHealthReady is /readyz in cricket's format.
func getHealthReady(c *gin.Context) error {
	if err := httpapi.Ready(c); err != nil {
		return err
	}
	return httpapi.Answer(c, http.StatusOK, statusAnswer{"ready"}, nil)
}

// getAppConfig returns what an app requests at startup.
func (a *api) getAppConfig(c *gin.Context) error { return httpapi.JSON(c, a.Info, nil) }
