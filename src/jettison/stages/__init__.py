"""The pipeline: evaluate → protect → rank → evict/compress → validate. One file and one public function each."""
