package main

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/goccy/go-json"
	"github.com/gofiber/contrib/v3/websocket"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/static"
)

type message struct {
	Message string `json:"message"`
	Number  int    `json:"number"`
}

func main() {
	args, secure := os.Args, []string(nil)
	if at := slices.Index(args, "--tls"); at > 0 && len(args) == at+4 {
		args, secure = args[:at], args[at+1:]
	}
	if len(args) < 3 || len(args) > 4 || len(args) == 4 && args[3] != "tuned" {
		log.Fatal("usage: server PORT ASSETS [tuned] [--tls PORT CERTIFICATE KEY]")
	}
	port, assets, tuned := args[1], args[2], len(args) == 4

	// Read once: the run measures the server, not the file system.
	page, err := os.ReadFile(filepath.Join(assets, "html-228.html"))
	if err != nil {
		log.Fatal(err)
	}

	config := fiber.Config{}
	if tuned {
		config.JSONEncoder = json.Marshal
		config.JSONDecoder = json.Unmarshal
	}
	app := fiber.New(config)

	app.Get("/", func(c fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMETextHTML)
		return c.Send(page)
	})
	app.Get("/hello", func(c fiber.Ctx) error { return c.SendString("Hello World\n") })
	app.Get("/pong", func(c fiber.Ctx) error { return c.SendString("PONG") })
	app.Get("/json", sendJSON)
	app.Post("/echo", echo)
	app.Get("/websocket", websocket.New(echoMessages))
	app.Get("/*", static.New(assets))

	listen := fiber.ListenConfig{DisableStartupMessage: true, EnablePrefork: tuned}
	if secure != nil {
		withTLS := listen
		withTLS.CertFile, withTLS.CertKeyFile = secure[1], secure[2]
		if tuned {
			// Made here so that the master makes it, not each of its children.
			keys := ticketKeys()
			withTLS.TLSConfigFunc = func(config *tls.Config) { config.SetSessionTicketKeys(keys) }
		}
		// With prefork, the master's children listen at both ports.
		if !tuned || fiber.IsChild() {
			go func() { log.Fatal(app.Listen(host()+":"+secure[0], withTLS)) }()
		}
	}
	log.Fatal(app.Listen(host()+":"+port, listen))
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

func sendJSON(c fiber.Ctx) error {
	number, err := strconv.Atoi(c.Query("n"))
	if err != nil {
		return fiber.NewError(fiber.StatusBadRequest, "n is not a number")
	}
	return c.JSON(message{"Hello World", number})
}

func echo(c fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.Send(c.Body())
}

func echoMessages(connection *websocket.Conn) {
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
