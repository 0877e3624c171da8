package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

type message struct {
	Message string `json:"message"`
	Number  int    `json:"number"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server PORT ASSETS")
	}
	port, assets := os.Args[1], os.Args[2]
	page, err := os.ReadFile(filepath.Join(assets, "html-228.html"))
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /{$}", reply("text/html", page))
	mux.Handle("GET /hello", reply("text/plain", []byte("Hello World\n")))
	mux.HandleFunc("GET /json", func(w http.ResponseWriter, r *http.Request) {
		number, err := strconv.Atoi(r.URL.Query().Get("n"))
		if err != nil {
			http.Error(w, "n is not a number", http.StatusBadRequest)
			return
		}
		body, _ := json.Marshal(message{"Hello World", number})
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	})
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(body)
	})
	host := os.Getenv("DROME_HOST")
	if host == "" {
		host = "127.0.0.1"
	}
	log.Fatal(http.ListenAndServe(host+":"+port, mux))
}

func reply(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	}
}
