"""Text that would do something if any view took it for markup."""

FLAG = "window.pwned=1"
TEXTS = (
    f"<script>{FLAG}</script>",
    f"<img src=x onerror={FLAG}>",
    f"<svg/onload={FLAG}>",
    f'"><iframe srcdoc="<script>parent.{FLAG}</script>"></iframe>',
    f"[press](javascript:{FLAG})",
    f"![alt](javascript:{FLAG})",
    f"<a href='javascript:{FLAG}'>link</a>",
    f"`</code><script>{FLAG}</script>`",
    f"| <script>{FLAG}</script> | b |\n|---|---|\n| <img src=x onerror={FLAG}> | c |",
    f"$$\\href{{javascript:{FLAG}}}{{x}}$$ :material/home: :red[red] {{{{7*7}}}}",
    "</style></textarea></title><b>bold</b>",
    "&lt;b&gt; &amp; &#x3C;script&#x3E;",
    "\u202eright to left\u202c \u2028 \x0b \ufeff",
)
ADDRESSES = (
    f"javascript:{FLAG}",
    f"JaVaScRiPt:{FLAG}",
    f" javascript:{FLAG}",
    f"java\nscript:{FLAG}",
    f"data:text/html,<script>{FLAG}</script>",
    f"vbscript:{FLAG}",
    "file:///etc/passwd",
    "//example.org/x",
    "/etc/passwd",
    "http:///path",
    "https://user:password@example.org/",
    'https://example.org/"onmouseover="x',
    "https://example.org/<script>",
    "https://example.org/a b",
    "http://[::1",
    "https://example.org:port/",
    "https://exam\u202eple.org/",
    "",
)
