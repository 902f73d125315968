// Package cricket is cricket's HTTP side: routes, OpenAPI document, topics, operator information, and the pages
// based on httpapi/cricket/page. New returns one httpapi.App; rules and services are in edge/cricket.
package cricket
