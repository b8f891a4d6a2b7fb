"""What stores behind an HTTP interface share: patience, rows, and one `Store` over a small interface.

It knows no address and no client; `stores.platform` and `stores.server` bring those.
"""
