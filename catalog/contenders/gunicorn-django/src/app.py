import os
from pathlib import Path

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import FileResponse, Http404, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

# A site in one module. Django's own defaults: no middleware, DEBUG off.
settings.configure(ROOT_URLCONF=__name__)

ASSETS = Path(os.environ["DROME_ASSETS"])

# Read once: the run measures the server, not the file system.
PAGE = (ASSETS / "html-228.html").read_bytes()


def page(request):
    return HttpResponse(PAGE, content_type="text/html")


def hello(request):
    return HttpResponse("Hello World\n", content_type="text/plain")


def pong(request):
    return HttpResponse("PONG", content_type="text/plain")


def greeting(request):
    greeting = {"message": "Hello World", "number": int(request.GET["n"])}
    # Python's json puts spaces after its separators unless told.
    return JsonResponse(greeting, json_dumps_params={"separators": (",", ":")})


@csrf_exempt
@require_POST
def echo(request):
    return HttpResponse(request.body, content_type="application/octet-stream")


# Django's view for folders of files is for development only, as its
# documentation says; FileResponse is what it has for production.
def asset(request, name):
    try:
        return FileResponse(open(ASSETS / name, "rb"))
    except OSError:
        raise Http404 from None


urlpatterns = [
    path("", page),
    path("hello", hello),
    path("pong", pong),
    path("json", greeting),
    path("echo", echo),
    path("<str:name>", asset),
]

app = get_wsgi_application()
