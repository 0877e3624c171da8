// What the script adds: live updates of a running study, files that are dropped or chosen, and contenders checked one by one.
// Without it, everything else works with links, buttons and reloading. Nothing runs between two events: a timer would take CPU time from
// the measurement.
"use strict";

const one = (selector) => document.querySelector(selector);
const all = (selector) => [...document.querySelectorAll(selector)];

// A running study: the server sends pieces of the page, with all names as escaped text.
function watch(place) {
  const events = new EventSource(place.dataset.live);
  let heat = null;
  events.addEventListener("piece", (event) => {
    renew(place, event.data);
    // Screen readers announce it once a heat: every step would be too often.
    const status = place.querySelector("[data-status]");
    const isOver = place.querySelector("[data-over]") !== null;
    if (status.dataset.status !== heat || isOver) one("[data-said]").textContent = status.textContent;
    heat = status.dataset.status;
    if (isOver) {
      events.close();
      finish(place);
    }
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) one("[data-said]").textContent = "The connection was closed.";
  });
}

// Replaces a piece, and keeps open details, scroll positions and the focus.
function renew(place, piece) {
  const opened = [...place.querySelectorAll("details")].map((part) => part.open);
  const scrolled = [...place.querySelectorAll(".scroll")].map((part) => part.scrollLeft);
  const reached = "a, summary, .scroll";
  const focused = [...place.querySelectorAll(reached)].indexOf(document.activeElement);
  place.innerHTML = piece;
  place.querySelectorAll("details").forEach((part, i) => (part.open = opened[i] ?? false));
  place.querySelectorAll(".scroll").forEach((part, i) => (part.scrollLeft = scrolled[i] ?? 0));
  if (focused >= 0) place.querySelectorAll(reached)[focused]?.focus({ preventScroll: true });
}

// The study has ended: hides the stop button, and moves its focus to the link to the report.
function finish(place) {
  const held = all("[data-while]").filter((part) => {
    const hasFocus = part.contains(document.activeElement);
    part.hidden = true;
    return hasFocus;
  });
  all(".beacon").forEach((beacon) => beacon.remove());
  const next = place.querySelector("a.button");
  if (held.length > 0 && next) next.focus();
}

// Sends a file as it is when it is dropped anywhere on the page, or chosen, and goes to the page of what was read in it.
function receive(place) {
  const input = place.querySelector("input[type=file]");
  const failure = place.querySelector("[data-drop-failure]");
  const largest = Number(place.dataset.largest);
  const refuse = (why) => {
    failure.hidden = false;
    failure.textContent = why;
    input.value = "";
  };
  const send = async (files) => {
    failure.hidden = true;
    if (files.length === 0) return;
    const [file] = files;
    if (files.length > 1) return refuse("Send one file at a time, or use the command line: drome import FILE FILE.");
    if (file.size > largest) {
      const mib = (bytes) => Math.round(bytes / 1048576).toLocaleString("en");
      return refuse(
        `${file.name} has ${mib(file.size)} MiB, more than ${mib(largest)} MiB. Keep only the reports in it, or use the command line: drome import FILE.`,
      );
    }
    try {
      const answer = await fetch(`${place.dataset.drop}?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
      if (answer.ok) return location.assign(answer.headers.get("Location"));
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      refuse(page.querySelector(".failure").textContent);
    } catch {
      refuse(`${file.name} could not be sent.`);
    }
  };
  input.addEventListener("change", () => send(input.files));
  const over = (event, is) => {
    event.preventDefault();
    place.classList.toggle("over", is);
  };
  document.addEventListener("dragover", (event) => over(event, true));
  document.addEventListener("dragleave", (event) => over(event, false));
  document.addEventListener("drop", (event) => {
    over(event, false);
    send(event.dataTransfer.files);
  });
}

// Checks one contender after the other. Each check runs a command, so it is a POST. Only its answer tells whether a row
// belongs in a list of installed contenders, or in one of missing ones.
async function ask(places) {
  const said = one("[data-asked]");
  const wanted = one("[data-installed]")?.dataset.installed;
  let missing = 0;
  for (const [i, place] of places.entries()) {
    said.textContent = `Checking which are installed: ${i + 1} of ${places.length}`;
    try {
      const answer = await fetch(place.dataset.ask, { method: "POST" });
      if (!answer.ok) throw new Error(answer.statusText);
      place.innerHTML = await answer.text();
      const isMissing = place.querySelector(".open") !== null;
      place.closest("tr").hidden = wanted === (isMissing ? "yes" : "no");
    } catch {
      place.textContent = "unknown: no answer";
    }
    if (place.querySelector(".open")) missing += 1;
  }
  said.textContent = `${places.length - missing} of ${places.length} are installed.`;
}

// Shows how many runs are selected, and enables the button when the number is right.
function count(form) {
  const wanted = Number(form.dataset.choose);
  const said = form.querySelector("[data-choose-count]");
  const button = form.querySelector("button");
  const tell = () => {
    const ticked = form.querySelectorAll("input:checked").length;
    button.disabled = ticked !== wanted;
    said.textContent = `${ticked} of ${wanted} selected`;
  };
  form.addEventListener("change", tell);
  window.addEventListener("pageshow", tell);
  tell();
}

all("[data-live]").forEach(watch);
all("[data-drop]").forEach(receive);
all("[data-choose]").forEach(count);
const asked = all("[data-ask]");
if (asked.length > 0) ask(asked);
