require 'json'
require 'rack'

ASSETS = ENV.fetch('DROME_ASSETS')

# Read once: the run measures the server, not the file system.
PAGE = File.binread(File.join(ASSETS, 'html-228.html')).freeze

def reply(status, type, body)
  [status, { 'Content-Type' => type, 'Content-Length' => body.bytesize.to_s }, [body]]
end

def greeting(request)
  JSON.generate(message: 'Hello World', number: Integer(request.params['n']))
end

use Rack::Static, root: ASSETS,
                  urls: %w[/html-147.html /png-50k.png /jpeg-200k.jpg /download-1m.bin]

run lambda { |env|
  request = Rack::Request.new(env)
  case [request.request_method, request.path_info]
  in ['GET', '/'] then reply(200, 'text/html', PAGE)
  in ['GET', '/hello'] then reply(200, 'text/plain', "Hello World\n")
  in ['GET', '/pong'] then reply(200, 'text/plain', 'PONG')
  in ['GET', '/json'] then reply(200, 'application/json', greeting(request))
  in ['POST', '/echo'] then reply(200, 'application/octet-stream', request.body.read)
  else reply(404, 'text/plain', "Not Found\n")
  end
}
