package main

import (
	"log"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goccy/go-json"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/static"
)

type message struct {
	Message string `json:"message"`
	Number  int    `json:"number"`
}

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 || len(os.Args) == 4 && os.Args[3] != "tuned" {
		log.Fatal("usage: server PORT ASSETS [tuned]")
	}
	port, assets, tuned := os.Args[1], os.Args[2], len(os.Args) == 4

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
	app.Get("/*", static.New(assets))

	log.Fatal(app.Listen(host()+":"+port, fiber.ListenConfig{
		DisableStartupMessage: true,
		EnablePrefork:         tuned,
	}))
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

// host is the address to listen on.
func host() string {
	if host := os.Getenv("DROME_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}
