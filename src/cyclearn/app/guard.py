"""Access control: only browsers that were opened with a token, and only the application's page.

Other programs and users of the machine have no token. An old browser may send the cookie with
requests of other pages; such requests have a foreign origin and are refused. A host name that an
attacker directs to this machine is not accepted.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_CHANGING = {"POST", "PUT", "PATCH", "DELETE"}
_REFUSED = (
    "This address belongs to cyclearn app, and this browser has no session. Open the "
    "address that the program printed; it works once. For another browser, copy a new address "
    "from the page that is open (Download, Another browser)."
)


class Guard:
    """Middleware that admits browsers, each by a token that works once, and only its own page."""

    def __init__(self, app: ASGIApp, *, port: int, tokens: set[str]) -> None:
        self._app = app
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        # Cookies do not distinguish ports, so every server has its own.
        self._cookie = f"cyclearn-{port}"
        self._session = secrets.token_urlsafe(32)
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request, or pass it on with headers that forbid foreign content."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = (
            self._refusal(scope)
            if scope["type"] == "http"
            else _refused("Web sockets are not supported.")
        )
        await (answer or self._app)(scope, receive, send_guarded)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refused("The address in the browser is not one of this program.")
        origin = headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return _refused("Requests from other pages are refused.")
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return _refused("Requests from other pages are refused.")
        if scope["method"] in _CHANGING and origin is None:
            return _refused("A request that changes something must name the page it comes from.")
        request = Request(scope)
        found = request.cookies.get(self._cookie, "").encode()
        is_in = secrets.compare_digest(found, self._session.encode())
        given = request.query_params.get("token", "")
        if scope["path"] == "/" and given:
            return self._exchanged(given, is_in)
        return None if is_in else _refused(_REFUSED)

    def _exchanged(self, given: str, is_in: bool) -> Response:
        """Start a session for the token, and redirect to the address without it."""
        response = RedirectResponse("/", 303)
        found = [
            one for one in self._tokens if secrets.compare_digest(given.encode(), one.encode())
        ]
        if found:
            self._tokens.difference_update(found)
            response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
            return response
        return response if is_in else _refused(_REFUSED)


def _refused(words: str) -> Response:
    return PlainTextResponse(words + "\n", 403)
