package main

import (
	"log"
	"os"
	"path/filepath"

	"github.com/valyala/fasthttp"
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

	handler := func(ctx *fasthttp.RequestCtx) {
		switch string(ctx.Path()) {
		case "/":
			ctx.SetContentType("text/html")
			ctx.SetBody(page)
		case "/hello":
			ctx.SetContentType("text/plain")
			ctx.SetBodyString("Hello World\n")
		case "/pong":
			ctx.SetContentType("text/plain")
			ctx.SetBodyString("PONG")
		default:
			ctx.NotFound()
		}
	}
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:"+port, handler))
}
