// Package web is cricket's HTTP side: routes, OpenAPI document, topics, operator information, and the pages
// based on edge/cricket/web/page. New returns one httpapi.App; rules and services are in edge/cricket.
package web
