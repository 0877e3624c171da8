require 'action_controller/railtie'

# Rails reads `public` from the folder it runs in, which is the run's own.
class Course < Rails::Application
  config.root = Dir.pwd
  config.load_defaults 6.1
  config.eager_load = true
  config.secret_key_base = SecureRandom.hex(64)

  # A new application leaves its files to a web server before it.
  config.public_file_server.enabled = true

  # Errors only, and to stderr.
  config.logger = ActiveSupport::Logger.new($stderr, level: :error)
  config.log_level = :error
end

class CourseController < ActionController::API
  # Read once: the run measures the server, not the file system.
  PAGE = File.binread(File.join(ENV.fetch('DROME_ASSETS'), 'html-228.html')).freeze

  def page
    render html: PAGE.html_safe
  end

  def hello
    render plain: "Hello World\n"
  end

  def pong
    render plain: 'PONG'
  end

  def greeting
    render json: { message: 'Hello World', number: Integer(params[:n]) }
  end

  def echo
    render body: request.raw_post, content_type: 'application/octet-stream'
  end
end

Course.initialize!

Course.routes.draw do
  # A path with an extension is another path, not another format of the same.
  scope format: false do
    root to: 'course#page'
    get 'hello', to: 'course#hello'
    get 'pong', to: 'course#pong'
    get 'json', to: 'course#greeting'
    post 'echo', to: 'course#echo'
  end
end

run Course
