package gateway

import (
	"encoding/json"
	"net/http"
	"net/textproto"
	"strings"
)

// copyHeader adds the end-to-end headers of src to dst, in canonical spelling.
func copyHeader(dst, src http.Header) {
	hop := map[string]bool{
		"connection": true, "keep-alive": true, "proxy-authenticate": true,
		"proxy-authorization": true, "te": true, "trailer": true,
		"transfer-encoding": true, "upgrade": true,
	}
	for _, name := range strings.Split(src.Get("Connection"), ",") {
		hop[strings.ToLower(strings.TrimSpace(name))] = true
	}
	for name, values := range src {
		if hop[strings.ToLower(name)] {
			continue
		}
		for _, v := range values {
			dst.Add(textproto.CanonicalMIMEHeaderKey(strings.ToLower(name)), strings.TrimSpace(v))
		}
	}
}

// forwardHeader returns the headers that a backend gets to see of r.
func forwardHeader(r *request) http.Header {
	h := make(http.Header)
	copyHeader(h, r.Header)
	h.Del("Authorization")
	h.Set("X-Forwarded-User", r.claims.Subject)
	h.Set("X-Forwarded-Tenant", r.claims.Tenant)
	h.Set("X-Forwarded-Scopes", joinScopes(r.claims.Scopes))
	h.Set("X-Forwarded-For", r.RemoteAddr)
	return h
}

func joinScopes(scopes []string) string {
	out := ""
	for i, s := range scopes {
		if i > 0 {
			out += " "
		}
		out += s
	}
	return out
}

// writeJSON sends v with the given status.
func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		writeError(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	w.Write([]byte(string(data) + "\n"))
}

// writeError sends an error as JSON.
func writeError(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": message, "status": status})
}
