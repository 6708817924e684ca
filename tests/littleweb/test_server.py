"""The proxy over real HTTP."""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import httpx

from littleweb.web import Web
from tests.littleweb.starting import ROOT, start_server

SEARCH = "http://search.example/search"


def test_it_starts_within_three_seconds(server: tuple[int, float]) -> None:
    assert server[1] < 3.0


def test_sitemaps_list_pages_that_are_there(client: httpx.Client) -> None:
    for host in ("encyclopedia.example", "courier.example"):
        reply = client.get(f"http://{host}/sitemap.xml")
        assert reply.status_code == 200 and "xml" in reply.headers["content-type"]
        urls = [node.text or "" for node in ElementTree.fromstring(reply.text).iter("{http://www.sitemaps.org/schemas/sitemap/0.9}loc")]
        assert len(urls) > 150
        for url in urls[::40]:
            page = client.get(url)
            assert page.status_code == 200
            assert f'<link rel="canonical" href="{url}">' in page.text
    assert client.get("http://wander.example/sitemap.xml").status_code == 404


def test_robots_txt_forbids_something_everywhere(client: httpx.Client, country: Web) -> None:
    for site in country.plan.sites:
        text = client.get(f"http://{site.host}/robots.txt").text
        assert text.startswith("User-agent: *\nDisallow: /")
        assert ("Sitemap:" in text) == (site.role == "seed")


def test_redirects_lead_to_the_page(client: httpx.Client, country: Web) -> None:
    assert len(country.plan.redirects) > 200
    for source, target in list(country.plan.redirects.items())[::25]:
        reply = client.get(source)
        assert reply.status_code in (301, 302) and reply.headers["location"] == target
        assert client.get(source, follow_redirects=True).url == target


def test_search_speaks_as_serper_does(client: httpx.Client, country: Web) -> None:
    town = country.country.of_kind("town")[3].name
    asked = {"q": f"What is the population of {town}?", "num": 20}
    reply = client.post(SEARCH, json=asked)
    assert reply.status_code == 200
    organic = reply.json()["organic"]
    assert [hit["position"] for hit in organic] == list(range(1, 21))
    assert all({"title", "link", "snippet", "position"} <= hit.keys() for hit in organic)
    hosts = {hit["link"].split("/")[2] for hit in organic}
    assert {"encyclopedia.example", "statistics.example", "wander.example"} <= hosts
    assert client.get(SEARCH, params={"q": asked["q"], "num": "20"}).json()["organic"] == organic
    for hit in organic:
        assert client.get(hit["link"], follow_redirects=True).status_code == 200


def test_search_pages_follow_each_other(client: httpx.Client) -> None:
    both = client.post(SEARCH, json={"q": "railway line stations", "num": 10}).json()["organic"]
    halves = [client.post(SEARCH, json={"q": "railway line stations", "num": 5, "page": page}).json()["organic"] for page in (1, 2)]
    assert [hit["link"] for hit in both] == [hit["link"] for half in halves for hit in half]


def test_search_finds_copies_and_redirecting_links_too(client: httpx.Client, country: Web) -> None:
    links: set[str] = set()
    for entity in country.country.entities[::4]:
        links |= {hit["link"] for hit in client.post(SEARCH, json={"q": entity.name, "num": 10}).json()["organic"]}
    assert any("mirror.example" in link for link in links)
    assert any("utm_source" in link for link in links)
    assert any(link in country.plan.redirects for link in links)


def test_search_snippets_stand_on_their_pages(client: httpx.Client) -> None:
    for hit in client.post(SEARCH, json={"q": "Who is the coach of the club?", "num": 30}).json()["organic"]:
        page = client.get(hit["link"], follow_redirects=True).text
        assert hit["snippet"] in page.replace("&#x27;", "'").replace("&amp;", "&").replace("&quot;", '"')


def test_bad_searches_get_an_error_and_no_result(client: httpx.Client) -> None:
    for body in (b"{", b"[1]", b'{"q": ""}', b'{"q": "x", "num": "many"}', b"{}"):
        reply = client.post(SEARCH, content=body)
        assert reply.status_code == 400 and "organic" not in reply.json()
    assert client.post(SEARCH, json={"q": "zzzxqv"}).json()["organic"] == []


def test_what_is_not_there_is_an_error(client: httpx.Client) -> None:
    assert client.get("http://encyclopedia.example/wiki/Nowhere").status_code == 404
    assert client.get("http://unknown.example/").status_code == 502
    assert client.post("http://encyclopedia.example/").status_code == 405
    assert client.get("http://encyclopedia.example/truth.jsonl").status_code == 404


def test_a_host_header_does_in_place_of_a_proxy(server: tuple[int, float]) -> None:
    with httpx.Client(trust_env=False) as plain:
        reply = plain.get(f"http://127.0.0.1:{server[0]}/robots.txt", headers={"Host": "courier.example"})
    assert reply.status_code == 200 and "Sitemap: http://courier.example/sitemap.xml" in reply.text


def test_https_is_refused_plainly(server: tuple[int, float]) -> None:
    with socket.create_connection(("127.0.0.1", server[0]), timeout=5) as raw:
        raw.sendall(b"CONNECT encyclopedia.example:443 HTTP/1.1\r\nHost: encyclopedia.example:443\r\n\r\n")
        assert b" 501 " in raw.recv(200)


def test_head_gives_the_length_and_no_body(client: httpx.Client) -> None:
    url = "http://courier.example/sitemap.xml"
    head, get = client.head(url), client.get(url)
    assert head.content == b"" and head.headers["content-length"] == str(len(get.content))


def test_a_page_takes_milliseconds_on_a_kept_connection(client: httpx.Client, country: Web) -> None:
    urls = [page.url for page in country.plan.pages[::10]]
    client.get(urls[0])
    began = time.perf_counter()
    for url in urls:
        client.get(url)
    assert (time.perf_counter() - began) / len(urls) < 0.02


def test_a_port_in_use_is_said_in_one_sentence(server: tuple[int, float]) -> None:
    command = [sys.executable, "-m", "littleweb", "serve", "--port", str(server[0])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1 and str(server[0]) in done.stderr


def test_tiny_is_served_too_and_ends_when_asked(tmp_path: Path) -> None:
    process, port, _ = start_server(tmp_path, "--flavour", "tiny")
    try:
        with httpx.Client(proxy=f"http://127.0.0.1:{port}", trust_env=False) as client:
            assert client.get("http://encyclopedia.example/wiki/Tarn").status_code == 200
    finally:
        process.terminate()
    assert process.wait(timeout=10) == 0
    assert not (tmp_path / "ready").exists()


def test_the_server_says_which_web_it_is(client: httpx.Client) -> None:
    assert client.get("http://encyclopedia.example/").headers["server"] == "littleweb/country-7-1"


def test_an_address_may_be_percent_encoded(client: httpx.Client, country: Web) -> None:
    river = country.country.of_kind("river")[0].name.replace(" ", "_")
    assert client.get(f"http://encyclopedia.example/wiki/{river.replace('_', '%5F')}").status_code == 200


def test_a_client_that_hangs_up_leaves_no_trace(tmp_path: Path) -> None:
    process, port, _ = start_server(tmp_path, "--flavour", "tiny")
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", port), timeout=5) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            raw.sendall(b"GET http://encyclopedia.example/sitemap.xml HTTP/1.1\r\nHost: encyclopedia.example\r\n\r\n" * 50)
    time.sleep(0.3)
    process.terminate()
    _, errors = process.communicate(timeout=10)
    assert process.returncode == 0 and errors == b""
