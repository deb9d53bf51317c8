package main

import (
	"bytes"
	"encoding/json"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// order is what clients send over HTTP.
type order struct {
	Key   uint64            `json:"key"`
	Items []string          `json:"items"`
	Notes map[string]string `json:"notes"`
}

// http starts a server on loopback and clients that send it orders.
func (s *server) http(wg *sync.WaitGroup) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, http.HandlerFunc(s.answer))
	url := "http://" + l.Addr().String()
	for i := range s.clients {
		wg.Go(func() {
			if err := s.browse(url, uint64(i)); err != nil {
				s.fail(err)
			}
		})
	}
	return nil
}

func (s *server) answer(w http.ResponseWriter, r *http.Request) {
	var o order
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o.Notes["before"] = o.Items[s.update(o.Key)%uint64(len(o.Items))]
	if err := json.NewEncoder(w).Encode(o); err != nil {
		log.Print(err)
	}
}

// browse sends orders until the work ends.
func (s *server) browse(url string, key uint64) error {
	client := http.Client{Transport: &http.Transport{}}
	for ; !s.stop.Load(); key += uint64(s.clients) {
		body, err := json.Marshal(order{key, []string{"bread", "salt", "wine"}, map[string]string{"by": "noon"}})
		if err != nil {
			return err
		}
		r, err := client.Post(url, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		var o order
		if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
			return err
		}
		r.Body.Close()
		s.sink.Add(o.Key)
		time.Sleep(s.rest)
	}
	return nil
}

// channels starts pairs of goroutines that hand buffers to and fro.
func (s *server) channels(wg *sync.WaitGroup) error {
	for i := range s.clients {
		there, back := make(chan []byte), make(chan []byte)
		wg.Go(func() {
			for b := range there {
				back <- b[:len(b)/2]
			}
		})
		wg.Go(func() { s.handOn(uint64(i), there, back) })
	}
	return nil
}

func (s *server) handOn(key uint64, there, back chan []byte) {
	defer close(there)
	for ; !s.stop.Load(); key++ {
		if key%8 == 0 {
			s.sink.Add(s.update(key))
		}
		there <- make([]byte, 64)
		s.sink.Add(uint64(len(<-back)))
		time.Sleep(s.rest)
	}
}
