// Package browser tests the page in a real browser. It is a module of its own
// so that the browser's driver is no dependency of the tool.
package browser
