{-# LANGUAGE OverloadedStrings #-}
-- Usage: server PORT ASSETS SECONDS, for which what is known of a file is kept.
module Main (main) where

import Data.Aeson (pairs, (.=))
import Data.Aeson.Encoding (fromEncoding)
import Data.ByteString (ByteString)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.Text (Text)
import Network.HTTP.Types
import Network.Wai
import Network.Wai.Application.Static (defaultFileServerSettings, ssIndices, staticApp)
import Network.Wai.Handler.Warp
    ( defaultSettings
    , runSettings
    , setFdCacheDuration
    , setFileInfoCacheDuration
    , setHost
    , setPort
    )
import Data.String (fromString)
import System.Environment (getArgs, lookupEnv)
import System.FilePath ((</>))

main :: IO ()
main = do
    arguments <- getArgs
    case arguments of
        [port, assets, seconds] -> do
            page <- B.readFile (assets </> "html-228.html")
            host <- maybe "127.0.0.1" fromString <$> lookupEnv "DROME_HOST"
            let settings =
                    setHost host
                        . setPort (read port)
                        . setFdCacheDuration (read seconds)
                        . setFileInfoCacheDuration (read seconds)
                        $ defaultSettings
                files = staticApp (defaultFileServerSettings assets) {ssIndices = []}
            runSettings settings (site files page)
        _ -> fail "usage: server PORT ASSETS SECONDS"

-- WAI has no router: an application matches the parts of the path.
site :: Application -> ByteString -> Application
site files page request respond =
    case (requestMethod request, pathInfo request) of
        ("GET", []) -> respond $ send "text/html" page
        ("GET", ["hello"]) -> respond $ send "text/plain" "Hello World\n"
        ("GET", ["pong"]) -> respond $ send "text/plain" "PONG"
        ("GET", ["json"]) -> respond $ json request
        ("POST", ["echo"]) -> do
            body <- strictRequestBody request
            respond $ responseLBS ok200 (describe "application/octet-stream") body
        _ -> files request respond

describe :: ByteString -> ResponseHeaders
describe contentType = [(hContentType, contentType)]

send :: ByteString -> ByteString -> Response
send contentType body = responseLBS ok200 headers (L.fromStrict body)
  where
    headers = (hContentLength, C.pack (show (B.length body))) : describe contentType

json :: Request -> Response
json request =
    case lookup "n" (queryString request) >>= (>>= C.readInt) of
        Just (n, "") ->
            responseBuilder ok200 (describe "application/json") . fromEncoding . pairs $
                "message" .= ("Hello World" :: Text) <> "number" .= n
        _ -> responseLBS badRequest400 [] ""
