"""The local web application: a server on the loopback address, worker processes, and a page.

The server stores no data and does not compute: it manages a folder (``workspace``), passes work to
processes (``pool``) that run ``tasks``, and serves the files of ``page``.
"""
