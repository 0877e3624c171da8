package drome

import grails.boot.GrailsApp
import grails.boot.config.GrailsAutoConfiguration
import groovy.transform.CompileStatic
import org.springframework.beans.factory.annotation.Value
import org.springframework.context.annotation.Bean
import org.springframework.web.servlet.config.annotation.ResourceHandlerRegistry
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer

@CompileStatic
class Application extends GrailsAutoConfiguration {
    static void main(String[] args) {
        GrailsApp.run(Application, args)
    }

    /** What no URL mapping takes is a file of the folder that option --assets names. */
    @Bean
    WebMvcConfigurer files(@Value('${assets}') String assets) {
        new WebMvcConfigurer() {
            @Override
            void addResourceHandlers(ResourceHandlerRegistry registry) {
                registry.addResourceHandler('/**').addResourceLocations("file:${assets}/")
            }
        }
    }
}
