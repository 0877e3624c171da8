{-# LANGUAGE OverloadedStrings #-}
-- Usage: server PORT ASSETS
module Main (main) where

import Control.Monad (msum)
import Control.Monad.IO.Class (liftIO)
import Data.Aeson (pairs, (.=))
import Data.Aeson.Encoding (encodingToLazyByteString)
import qualified Data.ByteString.Char8 as C
import qualified Data.ByteString.Lazy as L
import Data.Text (Text)
import Happstack.Server
import Data.Maybe (fromMaybe)
import System.Environment (getArgs, lookupEnv)
import System.FilePath ((</>))

main :: IO ()
main = do
    arguments <- getArgs
    case arguments of
        [number, assets] -> do
            let settings = nullConf {port = read number}
            page <- L.fromStrict <$> C.readFile (assets </> "html-228.html")
            host <- fromMaybe "127.0.0.1" <$> lookupEnv "DROME_HOST"
            socket <- bindIPv4 host (port settings)
            simpleHTTPWithSocket socket settings (site assets page)
        _ -> fail "usage: server PORT ASSETS"

site :: FilePath -> L.ByteString -> ServerPart Response
site assets page =
    msum
        [ nullDir >> method GET >> send "text/html" page
        , dir "hello" $ nullDir >> method GET >> send "text/plain" "Hello World\n"
        , dir "pong" $ nullDir >> method GET >> send "text/plain" "PONG"
        , dir "json" $ nullDir >> method GET >> json
        , dir "echo" $ nullDir >> method POST >> echo
        , method [GET, HEAD] >> serveDirectory DisableBrowsing [] assets
        ]

send :: String -> L.ByteString -> ServerPart Response
send contentType = ok . toResponseBS (C.pack contentType)

json :: ServerPart Response
json = do
    number <- queryString (look "n")
    case reads number of
        [(n, "")] ->
            send "application/json" . encodingToLazyByteString . pairs $
                "message" .= ("Hello World" :: Text) <> "number" .= (n :: Int)
        _ -> badRequest (toResponse ())

echo :: ServerPart Response
echo = do
    body <- askRq >>= liftIO . takeRequestBody
    send "application/octet-stream" (maybe "" unBody body)
