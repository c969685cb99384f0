module weft.bench/peer

go 1.21
