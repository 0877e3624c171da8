{-# LANGUAGE OverloadedStrings #-}
-- Usage: server ASSETS, followed by the server's own options.
module Main (main) where

import Control.Applicative ((<|>))
import Data.Aeson (pairs, (.=))
import Data.Aeson.Encoding (encodingToLazyByteString)
import Data.ByteString (ByteString)
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.Text (Text)
import Snap.Core
import Snap.Http.Server (quickHttpServe)
import Snap.Util.FileServe
import System.Environment (getArgs, withArgs)
import System.FilePath ((</>))

main :: IO ()
main = do
    arguments <- getArgs
    case arguments of
        assets : options -> do
            page <- B.readFile (assets </> "html-228.html")
            withArgs options $ quickHttpServe (site assets page)
        [] -> fail "usage: server ASSETS [OPTION...]"

site :: FilePath -> ByteString -> Snap ()
site assets page =
    get (send "text/html" page)
        <|> route
            [ ("hello", get (send "text/plain" "Hello World\n"))
            , ("pong", get (send "text/plain" "PONG"))
            , ("json", get json)
            , ("echo", ifTop (method POST echo))
            ]
        <|> methods [GET, HEAD] (serveDirectoryWith files assets)
  where
    -- A route takes the paths below it too, ifTop only the path itself.
    get = ifTop . method GET
    files = simpleDirectoryConfig {indexFiles = []} :: DirectoryConfig Snap

send :: ByteString -> ByteString -> Snap ()
send contentType body = do
    describe contentType
    modifyResponse $ setContentLength (fromIntegral (B.length body))
    writeBS body

describe :: ByteString -> Snap ()
describe contentType = modifyResponse $ setHeader "Content-Type" contentType

json :: Snap ()
json = do
    number <- (>>= C.readInt) <$> getQueryParam "n"
    case number of
        Just (n, "") -> do
            describe "application/json"
            writeLBS . encodingToLazyByteString . pairs $
                "message" .= ("Hello World" :: Text) <> "number" .= n
        _ -> modifyResponse $ setResponseStatus 400 "Bad Request"

echo :: Snap ()
echo = do
    body <- readRequestBody (2 * 1024 * 1024)
    describe "application/octet-stream"
    writeLBS body
