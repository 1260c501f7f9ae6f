-- | Collections of GHC's runtime, minor and major. Told to run, it works and says what it did; the runtime counts and
-- measures.
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import qualified Data.IntMap.Strict as Map
import Data.List (intercalate)
import Data.Word
import GHC.Clock (getMonotonicTimeNSec)
import GHC.Stats
import System.IO
import System.Mem

-- | The kind, and when it began and ended.
data Interval = Interval String Word32 Word64 Word64

during :: String -> IO () -> IO Interval
during kind collect = do
    before <- gcs <$> getRTSStats
    began <- getMonotonicTimeNSec
    collect
    ended <- getMonotonicTimeNSec
    after <- gcs <$> getRTSStats
    pure (Interval kind (after - before) began ended)

shown :: Interval -> String
shown (Interval kind collections began ended) =
    "{\"kind\":" ++ show kind ++ ",\"collections\":" ++ show collections ++ ",\"began_ns\":" ++ show began
        ++ ",\"ended_ns\":" ++ show ended ++ "}"

run :: Map.IntMap String -> IO ()
run kept = do
    before <- getRTSStats
    minors <- replicateM 6 (during "minor" performMinorGC)
    majors <- replicateM 4 (during "major" performMajorGC)
    after <- getRTSStats
    let list = intercalate "," (map shown (minors ++ majors))
    _ <- evaluate (length list)
    putStrLn
        ( "{\"intervals\":[" ++ list ++ "],\"collections\":" ++ show (gcs after - gcs before) ++ ",\"major\":"
            ++ show (major_gcs after - major_gcs before) ++ ",\"paused_ns\":"
            ++ show (gc_elapsed_ns after - gc_elapsed_ns before) ++ ",\"kept\":" ++ show (Map.size kept) ++ "}"
        )
    hFlush stdout

main :: IO ()
main = do
    let kept = Map.fromList [(i, show i) | i <- [1 .. 200000]]
    _ <- evaluate (sum (map length (Map.elems kept)))
    putStrLn "{}"
    hFlush stdout
    let loop = do
            end <- isEOF
            unless end $ do
                line <- getLine
                if line == "run" then run kept else putStrLn "{}" >> hFlush stdout
                loop
    loop
