package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	args, secure := os.Args, []string(nil)
	if at := slices.Index(args, "--tls"); at > 0 && len(args) == at+4 {
		args, secure = args[:at], args[at+1:]
	}
	if len(args) < 3 || len(args) > 4 {
		log.Fatal("usage: server PORT ASSETS [PROCESSES] [--tls PORT CERTIFICATE KEY]")
	}
	address, assets := host()+":"+args[1], args[2]

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

	if len(args) == 3 {
		if secure != nil {
			go func() {
				log.Fatal(server.ListenAndServeTLS(host()+":"+secure[0], secure[1], secure[2]))
			}()
		}
		log.Fatal(server.ListenAndServe(address))
	}
	processes, err := strconv.Atoi(args[3])
	if err != nil {
		log.Fatal(err)
	}
	// The master starts as many processes as it may use cores; each of them
	// then uses one.
	runtime.GOMAXPROCS(processes)
	if secure != nil {
		server.TLSConfig = &tls.Config{}
		server.TLSConfig.SetSessionTicketKeys(ticketKeys())
		// The master's children listen at both ports.
		if prefork.IsChild() {
			go func() {
				fork := prefork.New(server)
				fork.Reuseport = true
				// Here, the key comes first.
				log.Fatal(fork.ListenAndServeTLS(host()+":"+secure[0], secure[2], secure[1]))
			}()
		}
	}
	fork := prefork.New(server)
	fork.Reuseport = true
	fork.OnMasterDeath = func() { os.Exit(1) }
	if err := fork.ListenAndServe(address); err != nil {
		log.Fatal(err)
	}
}

// ticketKeys is the same for the master and its children, as crypto/tls asks for
// where several processes serve one address.
func ticketKeys() [][32]byte {
	var key [32]byte
	if text := os.Getenv("TICKET_KEY"); text != "" {
		bytes, err := hex.DecodeString(text)
		if err != nil {
			log.Fatal(err)
		}
		copy(key[:], bytes)
	} else {
		rand.Read(key[:])
		os.Setenv("TICKET_KEY", hex.EncodeToString(key[:]))
	}
	return [][32]byte{key}
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
