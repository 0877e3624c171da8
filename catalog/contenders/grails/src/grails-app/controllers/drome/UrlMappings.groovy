package drome

class UrlMappings {
    static mappings = {
        get '/'(controller: 'race', action: 'page')
        get '/hello'(controller: 'race', action: 'hello')
        get '/pong'(controller: 'race', action: 'pong')
        get '/json'(controller: 'race', action: 'json')
        post '/echo'(controller: 'race', action: 'echo')
    }
}
