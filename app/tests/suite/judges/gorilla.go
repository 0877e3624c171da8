// Sends every message back, and has a line for each.
package main

import (
	"fmt"
	"net/http"

	"github.com/gorilla/websocket"
)

var upgrader = websocket.Upgrader{}

func echo(answer http.ResponseWriter, request *http.Request) {
	socket, err := upgrader.Upgrade(answer, request, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	for {
		kind, message, err := socket.ReadMessage()
		if err != nil {
			return
		}
		fmt.Printf("message %s\n", request.URL)
		if socket.WriteMessage(kind, message) != nil {
			return
		}
	}
}

func main() {
	http.HandleFunc("/", echo)
	go func() {
		panic(http.ListenAndServe("127.0.0.1:{port}", nil))
	}()
	panic(http.ListenAndServeTLS("127.0.0.1:{tls}", "{dir}/cert.pem", "{dir}/key.pem", nil))
}
