"""The local web application: a server on the loopback address, worker processes, and a page.

The server holds no data and does no computing: it keeps a folder (``workspace``), hands work to
processes (``pool``) that run ``tasks``, and serves the files of ``page``.
"""
