package drome

import grails.config.Config
import grails.core.support.GrailsConfigurationAware

class RaceController implements GrailsConfigurationAware {
    private byte[] page

    @Override
    void setConfiguration(Config config) {
        page = new File(config.getProperty('assets'), 'html-228.html').bytes
    }

    def page() {
        render file: page, contentType: 'text/html'
    }

    def hello() {
        render text: 'Hello World\n', contentType: 'text/plain'
    }

    def pong() {
        render text: 'PONG', contentType: 'text/plain'
    }

    def json(Integer n) {
        if (n == null) {
            render status: 400
            return
        }
        render(contentType: 'application/json') {
            message 'Hello World'
            number n
        }
    }

    def echo() {
        render file: request.inputStream.bytes, contentType: 'application/octet-stream'
    }
}
