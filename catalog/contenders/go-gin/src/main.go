package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gin-gonic/gin"
)

// The largest body that /echo sends back, in bytes.
const maxBody = 1 << 20

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

	// gin.Default without its logger: no contender writes a line a request.
	router := gin.New()
	router.Use(gin.Recovery())

	router.GET("/", func(c *gin.Context) { c.Data(http.StatusOK, "text/html", page) })
	router.GET("/hello", func(c *gin.Context) { c.String(http.StatusOK, "Hello World\n") })
	router.GET("/pong", func(c *gin.Context) { c.String(http.StatusOK, "PONG") })
	router.GET("/json", sendJSON)
	router.POST("/echo", echo)
	for _, name := range []string{"html-147.html", "png-50k.png", "jpeg-200k.jpg", "download-1m.bin"} {
		router.StaticFile("/"+name, filepath.Join(assets, name))
	}
	if len(os.Args) == 7 {
		go func() {
			log.Fatal(router.RunTLS(host()+":"+os.Args[4], os.Args[5], os.Args[6]))
		}()
	}
	log.Fatal(router.Run(host() + ":" + port))
}

func sendJSON(c *gin.Context) {
	number, err := strconv.Atoi(c.Query("n"))
	if err != nil {
		c.String(http.StatusBadRequest, "n is not a number\n")
		return
	}
	c.JSON(http.StatusOK, message{"Hello World", number})
}

func echo(c *gin.Context) {
	body, err := io.ReadAll(http.MaxBytesReader(c.Writer, c.Request.Body, maxBody))
	if err != nil {
		c.String(http.StatusRequestEntityTooLarge, err.Error())
		return
	}
	c.Data(http.StatusOK, "application/octet-stream", body)
}

// host is the address to listen on.
func host() string {
	if host := os.Getenv("DROME_HOST"); host != "" {
		return host
	}
	return "127.0.0.1"
}
