package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gorilla/websocket"
)

// The largest body that /echo sends back, in bytes.
const maxBody = 1 << 20

var upgrader websocket.Upgrader

type message struct {
	Message string `json:"message"`
	Number  int    `json:"number"`
}

func main() {
	if len(os.Args) != 3 && (len(os.Args) != 7 || os.Args[3] != "--tls") {
		log.Fatal("usage: server PORT ASSETS [--tls PORT CERTIFICATE KEY]")
	}
	port, assets := os.Args[1], os.Args[2]

	// Read once: the run measures the server, not the file system.
	page, err := os.ReadFile(filepath.Join(assets, "html-228.html"))
	if err != nil {
		log.Fatal(err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /{$}", reply("text/html", page))
	mux.Handle("GET /hello", reply("text/plain", []byte("Hello World\n")))
	mux.Handle("GET /pong", reply("text/plain", []byte("PONG")))
	mux.HandleFunc("GET /json", sendJSON)
	mux.HandleFunc("POST /echo", echo)
	mux.HandleFunc("GET /websocket", echoMessages)
	mux.Handle("GET /", http.FileServer(http.Dir(assets)))
	if len(os.Args) == 7 {
		go func() {
			log.Fatal(http.ListenAndServeTLS(host()+":"+os.Args[4], os.Args[5], os.Args[6], mux))
		}()
	}
	log.Fatal(http.ListenAndServe(host()+":"+port, mux))
}

func reply(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Write(body)
	}
}

func sendJSON(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.URL.Query().Get("n"))
	if err != nil {
		http.Error(w, "n is not a number", http.StatusBadRequest)
		return
	}
	// Marshal, as an Encoder would end the body with a newline.
	body, err := json.Marshal(message{"Hello World", number})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}

func echo(w http.ResponseWriter, r *http.Request) {
	// Whole before the answer begins: after that, HTTP/1 reads no further.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(body)
}

func echoMessages(w http.ResponseWriter, r *http.Request) {
	connection, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered.
	}
	defer connection.Close()
	for {
		kind, data, err := connection.ReadMessage()
		if err != nil {
			return
		}
		if connection.WriteMessage(kind, data) != nil {
			return
		}
	}
}

// host is the address to listen on.
func host() string {
	if host := os.Getenv("DROME_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}
