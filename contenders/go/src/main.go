package main

import (
	"log"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: server PORT ASSETS")
	}
	port, assets := os.Args[1], os.Args[2]

	// Read once: the run measures the server, not the file system.
	page, err := os.ReadFile(filepath.Join(assets, "html-228.html"))
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	// A plain "/" would match every path; with {$} the others are a 404.
	mux.Handle("GET /{$}", reply("text/html", page))
	mux.Handle("GET /hello", reply("text/plain", []byte("Hello World\n")))
	mux.Handle("GET /pong", reply("text/plain", []byte("PONG")))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, mux))
}

func reply(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	}
}
