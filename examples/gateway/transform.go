package gateway

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode"
)

// Product is an article as the catalog service spells it.
type Product struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Description string            `json:"description"`
	Tags        []string          `json:"tags"`
	Cents       int64             `json:"cents"`
	Stock       int               `json:"stock"`
	Attributes  map[string]string `json:"attributes"`
}

// Order is an order as the orders service spells it.
type Order struct {
	ID     string      `json:"id,omitempty"`
	UserID string      `json:"user_id,omitempty"`
	Note   string      `json:"note,omitempty"`
	Items  []OrderItem `json:"items"`
}

// OrderItem is one line of an Order.
type OrderItem struct {
	ProductID string `json:"product_id"`
	Quantity  int    `json:"quantity"`
}

// validID reports whether id is a prefix, a dash and a number.
func validID(prefix, id string) bool {
	re := regexp.MustCompile("^" + prefix + "-[0-9]{1,9}$")
	return re.MatchString(id)
}

// camelKeys returns v with every snake_case key spelt in camelCase.
func camelKeys(v map[string]any) map[string]any {
	out := make(map[string]any)
	for key, value := range v {
		switch value := value.(type) {
		case map[string]any:
			out[camel(key)] = camelKeys(value)
		case []any:
			out[camel(key)] = camelItems(value)
		default:
			out[camel(key)] = value
		}
	}
	return out
}

func camelItems(items []any) []any {
	var out []any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			out = append(out, camelKeys(m))
		} else {
			out = append(out, item)
		}
	}
	return out
}

// camel turns first_name into firstName.
func camel(key string) string {
	out := ""
	upper := false
	for _, r := range key {
		switch {
		case r == '_':
			upper = true
		case upper:
			out += string(unicode.ToUpper(r))
			upper = false
		default:
			out += string(r)
		}
	}
	return out
}

// scored is a product with how well it fits a search.
type scored struct {
	product Product
	score   int
}

// rankProducts returns the products that match q, best first.
func rankProducts(products []Product, q string) []Product {
	var hits []*scored
	for _, p := range products {
		s := scored{product: p, score: score(p, q)}
		if s.score > 0 {
			hits = append(hits, &s)
		}
	}
	sort.SliceStable(hits, func(i, j int) bool { return hits[i].score > hits[j].score })
	var out []Product
	for _, h := range hits {
		out = append(out, h.product)
	}
	return out
}

// score weighs a match in the name over one in the tags or the description.
func score(p Product, q string) int {
	n := 0
	for _, word := range strings.Fields(strings.ToLower(q)) {
		if strings.Contains(strings.ToLower(p.Name), word) {
			n += 10
		}
		if strings.Contains(strings.ToLower(p.Description), word) {
			n++
		}
		for _, tag := range p.Tags {
			if strings.ToLower(tag) == word {
				n += 5
			}
		}
	}
	return n
}

// productView is a product as clients see it.
func productView(p Product) map[string]any {
	view := make(map[string]any)
	view["id"] = p.ID
	view["name"] = p.Name
	view["summary"] = summary(p.Description, 8)
	view["price"] = fmt.Sprintf("%d.%02d", p.Cents/100, p.Cents%100)
	view["inStock"] = p.Stock > 0
	view["tags"] = p.Tags
	view["link"] = fmt.Sprintf("/v1/products/%s", p.ID)
	return view
}

// summary returns the first words of s.
func summary(s string, words int) string {
	out := ""
	for i, w := range strings.Fields(s) {
		if i == words {
			return out + " …"
		}
		if i > 0 {
			out += " "
		}
		out += w
	}
	return out
}

// orderView joins an order with its user and products.
func orderView(o Order, user map[string]any, products []Product) map[string]any {
	byID := make(map[string]*Product)
	for _, p := range products {
		byID[p.ID] = &p
	}
	var items []any
	var total int64
	for _, item := range o.Items {
		line := map[string]any{"quantity": item.Quantity, "productId": item.ProductID}
		if p := byID[item.ProductID]; p != nil {
			cents := p.Cents * int64(item.Quantity)
			total += cents
			line["product"] = productView(*p)
			line["amount"] = fmt.Sprintf("%d.%02d", cents/100, cents%100)
		}
		items = append(items, line)
	}
	return map[string]any{
		"id":    o.ID,
		"note":  o.Note,
		"user":  user,
		"items": items,
		"total": fmt.Sprintf("%d.%02d", total/100, total%100),
	}
}
