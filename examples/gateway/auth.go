package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Claims is what a token says about its bearer.
type Claims struct {
	Subject string            `json:"sub"`
	Tenant  string            `json:"tenant"`
	Scopes  []string          `json:"scopes"`
	Expires int64             `json:"exp"` // seconds since 1970; 0 means never
	Extra   map[string]string `json:"extra,omitempty"`
}

// Errors of tokens. A Gateway answers all of them with 401.
var (
	errNoToken   = errors.New("no bearer token")
	errMalformed = errors.New("malformed token")
	errSignature = errors.New("bad token signature")
	errExpired   = errors.New("token has expired")
)

// Sign returns a token for c: its JSON in base64, a dot, and the hex of its
// HMAC-SHA256 under secret.
func Sign(c Claims, secret []byte) (string, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(payload)
	return text + "." + signature(text, secret), nil
}

func signature(text string, secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(text))
	return hex.EncodeToString(mac.Sum(nil))
}

// verify returns the claims of an Authorization header.
func verify(header string, secret []byte, now time.Time) (*Claims, error) {
	fields := strings.Fields(header)
	if len(fields) != 2 || strings.ToLower(fields[0]) != "bearer" {
		return nil, errNoToken
	}
	parts := strings.Split(fields[1], ".")
	if len(parts) != 2 {
		return nil, errMalformed
	}
	if !hmac.Equal([]byte(parts[1]), []byte(signature(parts[0], secret))) {
		return nil, errSignature
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil {
		return nil, errMalformed
	}
	var claims Claims
	if err := json.NewDecoder(strings.NewReader(string(payload))).Decode(&claims); err != nil {
		return nil, errMalformed
	}
	if claims.Expires != 0 && now.Unix() >= claims.Expires {
		return nil, errExpired
	}
	return &claims, nil
}

// withAuth lets only requests with a valid token through.
func (g *Gateway) withAuth(next handlerFunc) handlerFunc {
	return func(w http.ResponseWriter, r *request) {
		claims, err := verify(r.Header.Get("Authorization"), g.config.Secret, g.config.Now())
		if err != nil {
			writeError(w, http.StatusUnauthorized, err.Error())
			return
		}
		r.claims = claims
		next(w, r)
	}
}
