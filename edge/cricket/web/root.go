package web

import (
	"net/http"

	"github.com/touchline/touchline/httpapi"
)

// getRoot describes the application.
func (h *handlers) getRoot(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.ReplyTagged(map[string]string{
		"name": "sightscreen", "version": h.Version, "openapi": h.address("/openapi.yaml"), "health": h.address("/health"),
	})
}

type statusAnswer struct {
	Status string `json:"status"`
}

func (h *handlers) getHealth(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.Reply(http.StatusOK, statusAnswer{"ok"})
}

// getReadiness is /readyz in cricket's format.
func (h *handlers) getReadiness(r *httpapi.Request) (httpapi.Response, error) {
	if err := r.CheckReady(); err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Reply(http.StatusOK, statusAnswer{"ready"})
}

// getAppConfig returns what an app requests at startup.
func (h *handlers) getAppConfig(*httpapi.Request) (httpapi.Response, error) {
	return httpapi.ReplyTagged(h.Info)
}
