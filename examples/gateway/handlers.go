package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

func (g *Gateway) health(w http.ResponseWriter, _ *request) {
	writeJSON(w, http.StatusOK, map[string]any{"status": "ok"})
}

// getUser answers with one user, reshaped.
func (g *Gateway) getUser(w http.ResponseWriter, r *request) {
	if !validID("u", r.params["id"]) {
		writeError(w, http.StatusBadRequest, "malformed user id")
		return
	}
	user, err := g.client.get(r, "users", "/users/"+r.params["id"])
	if err != nil {
		writeFailure(w, err)
		return
	}
	writeJSON(w, http.StatusOK, camelKeys(user))
}

// searchProducts answers with the products whose name or tags match q, at most
// 50 of them.
func (g *Gateway) searchProducts(w http.ResponseWriter, r *request) {
	q := r.URL.Query().Get("q")
	var found struct {
		Products []Product `json:"products"`
	}
	err := g.client.do(r, call{
		method:  "GET",
		service: "catalog",
		path:    "/products",
		query:   url.Values{"q": {q}},
	}, &found)
	if err != nil {
		writeFailure(w, err)
		return
	}
	var views []map[string]any
	for _, p := range rankProducts(found.Products, q) {
		views = append(views, productView(p))
		if len(views) == 50 {
			break
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"query": q, "count": len(views), "products": views})
}

// getOrder answers with an order joined with its user and products.
func (g *Gateway) getOrder(w http.ResponseWriter, r *request) {
	if !validID("o", r.params["id"]) {
		writeError(w, http.StatusBadRequest, "malformed order id")
		return
	}
	var order Order
	if err := g.client.do(r, call{method: "GET", service: "orders", path: "/orders/" + r.params["id"]}, &order); err != nil {
		writeFailure(w, err)
		return
	}
	user, err := g.client.get(r, "users", "/users/"+order.UserID)
	if err != nil {
		writeFailure(w, err)
		return
	}
	var ids []string
	for _, item := range order.Items {
		ids = append(ids, item.ProductID)
	}
	var found struct {
		Products []Product `json:"products"`
	}
	err = g.client.do(r, call{
		method:  "GET",
		service: "catalog",
		path:    "/products",
		query:   url.Values{"ids": {strings.Join(ids, ",")}},
	}, &found)
	if err != nil {
		writeFailure(w, err)
		return
	}
	writeJSON(w, http.StatusOK, orderView(order, camelKeys(user), found.Products))
}

// createOrder checks a new order and hands it to the orders service.
func (g *Gateway) createOrder(w http.ResponseWriter, r *request) {
	var order Order
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&order); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	if problems := checkOrder(order); len(problems) > 0 {
		writeJSON(w, http.StatusUnprocessableEntity, map[string]any{"problems": problems})
		return
	}
	order.UserID = r.claims.Subject
	created := make(map[string]any)
	err := g.client.do(r, call{method: "POST", service: "orders", path: "/orders", body: order}, &created)
	if err != nil {
		writeFailure(w, err)
		return
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/orders/%v", created["id"]))
	writeJSON(w, http.StatusCreated, camelKeys(created))
}

// checkOrder returns what is wrong with a new order, in words.
func checkOrder(o Order) []string {
	var problems []string
	if len(o.Items) == 0 {
		problems = append(problems, "an order needs at least one item")
	}
	seen := make(map[string]bool)
	for i, item := range o.Items {
		if !validID("p", item.ProductID) {
			problems = append(problems, fmt.Sprintf("item %d: malformed product id %q", i, item.ProductID))
		}
		if item.Quantity < 1 || item.Quantity > 1000 {
			problems = append(problems, fmt.Sprintf("item %d: quantity %d is not between 1 and 1000", i, item.Quantity))
		}
		if seen[item.ProductID] {
			problems = append(problems, fmt.Sprintf("item %d: product %s twice", i, item.ProductID))
		}
		seen[item.ProductID] = true
	}
	return problems
}
