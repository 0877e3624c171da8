package main

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/prefork"
)

type message struct {
	Message string `json:"message"`
	Number  int    `json:"number"`
}

type app struct {
	page  []byte
	files fasthttp.RequestHandler
}

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		log.Fatal("usage: server PORT ASSETS [PROCESSES]")
	}
	address, assets := host()+":"+os.Args[1], os.Args[2]

	// Read once: the run measures the server, not the file system.
	page, err := os.ReadFile(filepath.Join(assets, "html-228.html"))
	if err != nil {
		log.Fatal(err)
	}
	files := fasthttp.FS{Root: assets}
	server := &fasthttp.Server{
		Handler: app{page, files.NewRequestHandler()}.handle,
		// The largest body that /echo sends back.
		MaxRequestBodySize: 1 << 20,
	}

	if len(os.Args) == 3 {
		log.Fatal(server.ListenAndServe(address))
	}
	processes, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	// The master starts as many processes as it may use cores; each of them
	// then uses one.
	runtime.GOMAXPROCS(processes)
	fork := prefork.New(server)
	fork.Reuseport = true
	fork.OnMasterDeath = func() { os.Exit(1) }
	if err := fork.ListenAndServe(address); err != nil {
		log.Fatal(err)
	}
}

func (a app) handle(ctx *fasthttp.RequestCtx) {
	switch string(ctx.Path()) {
	case "/":
		ctx.SetContentType("text/html")
		ctx.SetBody(a.page)
	case "/hello":
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("Hello World\n")
	case "/pong":
		ctx.SetContentType("text/plain")
		ctx.SetBodyString("PONG")
	case "/json":
		sendJSON(ctx)
	case "/echo":
		if !ctx.IsPost() {
			ctx.Error("POST only", fasthttp.StatusMethodNotAllowed)
			return
		}
		ctx.SetContentType("application/octet-stream")
		ctx.SetBody(ctx.PostBody())
	default:
		a.files(ctx)
	}
}

func sendJSON(ctx *fasthttp.RequestCtx) {
	number, err := ctx.QueryArgs().GetUint("n")
	if err != nil {
		ctx.Error("n is not a number", fasthttp.StatusBadRequest)
		return
	}
	body, err := json.Marshal(message{"Hello World", number})
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusInternalServerError)
		return
	}
	ctx.SetContentType("application/json")
	ctx.SetBody(body)
}

// host is the address to listen on.
func host() string {
	if host := os.Getenv("DROME_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}
