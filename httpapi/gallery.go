package httpapi

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/touchline/touchline/httpapi/page"
	"github.com/touchline/touchline/internal/fault"
)

// getGallery shows every part in every state, from fixed data.
func (s *Server) getGallery(c *gin.Context) error {
	scenes, err := page.Scenes()
	if err != nil {
		return err
	}
	body, err := s.pages.Gallery(scenes)
	if err != nil {
		return err
	}
	c.Data(http.StatusOK, htmlType, body)
	return nil
}

// getScene shows one state of a page as the whole page.
func (s *Server) getScene(c *gin.Context) error {
	scenes, err := page.Scenes()
	if err != nil {
		return err
	}
	for i := range scenes {
		if scenes[i].Name != c.Param("scene") {
			continue
		}
		body, err := s.pages.Scene(&scenes[i])
		if err != nil {
			return err
		}
		c.Data(http.StatusOK, htmlType, body)
		return nil
	}
	return fault.New(fault.NotFound, "not_found", "There is no such scene.")
}
