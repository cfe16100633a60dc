"use strict";

const find = (id) => document.getElementById(id);

const setText = (element, text) => {
	if (element.textContent !== text) {
		element.textContent = text;
	}
};

const seconds = (millis) => (millis / 1000).toFixed(1) + " s";

const leases = new Map();
const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
const asking = new Set();
let state = null;
let lastEntry = 0;

// --- From the control process ---------------------------------------------------------

const feed = new EventSource("/api/events");

const LOST = "The connection to the sample is lost; the page tries again.";

feed.onopen = () => {
	setText(find("connection"), "live");
	if (find("notice").textContent === LOST) {
		setText(find("notice"), "");
	}
};

feed.onerror = () => {
	setText(find("connection"), "is not connected");
	setText(find("notice"), LOST);
};

feed.onmessage = (event) => {
	const now = JSON.parse(event.data);
	if (state !== null && state.pid !== now.pid) {
		// The sample was started anew, perhaps another version of it.
		location.reload();
		return;
	}
	state = now;
	setText(find("store"), state.store);
	showAll();
};

function showAll() {
	showTour();
	showSale();
	showLanes();
	showLog();
	showControls();
}

function announce(text) {
	setText(find("announcement"), text);
}

function showTour() {
	const tour = state.tour;
	document.querySelectorAll("[data-step]").forEach((button) => {
		const card = button.closest("li");
		const playing = tour !== null && tour.running && String(tour.step) === button.dataset.step;
		card.classList.toggle("playing", playing);
		if (playing) {
			setText(card.querySelector(".verdict"), "Running …");
		}
		else if (tour !== null && String(tour.step) === button.dataset.step) {
			const verdict = card.querySelector(".verdict");
			if (verdict.textContent !== tour.verdict) {
				verdict.textContent = tour.verdict;
				announce(tour.verdict);
			}
		}
		disable(button, isSelling() || (button.dataset.step === "4" && !state.canFreeze));
	});
}

function isSelling() {
	return state === null || state.lanes.length === 0 || state.lanes.some((lane) => lane.state === "starting")
			|| (state.sale !== null && state.sale.running) || (state.tour !== null && state.tour.running);
}

// A button that is off keeps its focus. It is off until its request was answered.
function disable(button, off) {
	button.setAttribute("aria-disabled", String(off || asking.has(button)));
}

function showSale() {
	const sale = state.sale;
	if (sale === null) {
		setText(find("sale-state"), "");
		return;
	}
	const result = sale.result;
	setText(find("sold"), String(result.sold));
	setText(find("capacity"), String(result.capacity));
	setText(find("oversold"), String(result.oversold));
	setText(find("refused"), String(result.refused));
	find("oversold-box").classList.toggle("alarm", result.oversold > 0);
	find("refused-box").classList.toggle("saved", result.refused > 0);
	setText(find("sale-state"), (sale.running ? "is running " : "has ended; it was ") + described(sale.settings));
	showSeats(result, sale.tickets);
}

function described(settings) {
	if (!settings.lock) {
		return "without the lock";
	}
	return "with the lock" + (settings.fence ? "" : ", without fencing") + (settings.renew ? "" : ", without renewal");
}

function showSeats(result, tickets) {
	const seats = find("seats");
	while (seats.childElementCount < result.capacity) {
		seats.append(document.createElement("i"));
	}
	while (seats.childElementCount > result.capacity) {
		seats.lastElementChild.remove();
	}
	const sold = new Array(result.capacity).fill(0);
	tickets.forEach((seat) => sold[seat - 1]++);
	sold.forEach((count, i) => {
		seats.children[i].className = "seat" + (count > 1 ? " twice" : count === 1 ? " once" : "");
	});
	seats.setAttribute("aria-label", sold.filter((count) => count > 0).length + " of " + result.capacity
			+ " seats sold, " + sold.filter((count) => count > 1).length + " of them more than once");
}

function showLanes() {
	const lanes = find("lanes");
	setText(find("worker-count"), ["No", "One", "Two", "Three", "Four", "Five"][state.lanes.length]
			|| String(state.lanes.length));
	while (lanes.childElementCount < state.lanes.length) {
		lanes.append(newLane(lanes.childElementCount));
	}
	while (lanes.childElementCount > state.lanes.length) {
		leases.delete(lanes.lastElementChild);
		lanes.lastElementChild.remove();
	}
	state.lanes.forEach((lane, i) => showLane(lanes.children[i], lane));
}

function newLane(index) {
	const article = find("lane").content.firstElementChild.cloneNode(true);
	const name = "Worker " + (index + 1);
	article.querySelector("h3").textContent = name;
	article.querySelector(".lease").setAttribute("aria-label", "Lease of worker " + (index + 1));
	["kill", "freeze", "restart"].forEach((act) => {
		const button = article.querySelector("." + act);
		button.setAttribute("aria-label", button.textContent + ", worker " + (index + 1));
		button.addEventListener("click", () =>
			ask(button, "/api/workers/" + state.lanes[index].pid + "/" + act + (act === "freeze" ? "?seconds=8" : "")));
	});
	return article;
}

function showLane(article, lane) {
	article.className = "lane " + lane.state;
	setText(article.querySelector(".pid"), "process " + lane.pid);
	setText(article.querySelector(".words"), words(lane));
	showToken(article.querySelector(".token"), lane.token);
	setText(article.querySelector(".waits"), lane.waiting === 0 ? "–"
			: (lane.waiting === 1 ? "1 thread, " : lane.waiting + " threads, ") + seconds(lane.waitedMillis));
	const alive = lane.state !== "dead";
	disable(article.querySelector(".kill"), !alive);
	disable(article.querySelector(".freeze"), !alive || lane.state === "frozen");
	article.querySelector(".freeze").hidden = !state.canFreeze;
	disable(article.querySelector(".restart"), lane.state === "starting");
	leases.set(article, { lane, until: performance.now() + lane.remainingMillis });
}

// Tokens are long: what they have in common is grey, so that the higher one can be seen.
function showToken(element, token) {
	if (token === null) {
		setText(element, "–");
		return;
	}
	const others = state.lanes.map((lane) => lane.token).filter((other) => other !== null && other !== token);
	let common = 0;
	while (common < token.length && others.length > 0 && others.every((other) => other.startsWith(token.slice(0, common + 1)))) {
		common++;
	}
	const grey = document.createElement("span");
	grey.className = "common";
	grey.textContent = token.slice(0, common);
	const rest = document.createElement(common > 0 ? "b" : "span");
	rest.textContent = token.slice(common);
	element.replaceChildren(grey, rest);
}

function words(lane) {
	switch (lane.state) {
		case "starting": return "Starting";
		case "selling": return state.sale !== null && state.sale.settings.lock ? "Between two sales" : "Sells without the lock";
		case "waiting": return "Waits for the lock";
		case "holding": return "Holds the lock";
		case "stale": return "Stale: its lease was over when it wrote";
		case "dead": return lane.token === null ? "Dead" : lane.succeeded ? "Dead; another one has the lock" : "Dead; the store still keeps its lock";
		case "frozen": return lane.token === null ? "Frozen" : lane.succeeded ? "Frozen; another one has the lock"
				: lane.remainingMillis > 0 ? "Frozen, and holds the lock" : "Frozen past its lease";
		default: return "Idle";
	}
}

// The bar drains by itself, and jumps when a report says that the lease was renewed.
function drawLeases(now) {
	leases.forEach(({ lane, until }, article) => {
		const left = lane.token === null ? 0 : Math.max(0, until - now);
		const share = lane.leaseMillis > 0 ? Math.min(1, left / lane.leaseMillis) : 0;
		const shown = calm.matches ? Math.round(share * 10) / 10 : share;
		article.querySelector(".lease div").style.transform = "scaleX(" + shown + ")";
		article.querySelector(".lease").setAttribute("aria-valuenow", String(Math.round(share * 100)));
		setText(article.querySelector(".left"), lane.token === null ? "no lease"
				: left > 0 ? seconds(left) + " of its lease of " + seconds(lane.leaseMillis) + " left"
				: "its lease is over");
	});
	requestAnimationFrame(drawLeases);
}

function showLog() {
	const log = find("log");
	const old = lastEntry === 0;
	state.log.filter((entry) => entry.id > lastEntry).forEach((entry) => {
		const item = document.createElement("li");
		const time = document.createElement("time");
		time.textContent = entry.time.slice(0, 8);
		item.className = entry.tone;
		item.append(time, entry.text);
		log.prepend(item);
		if (entry.aloud && !old) {
			announce(entry.text);
		}
		lastEntry = entry.id;
	});
	while (log.childElementCount > 80) {
		log.lastElementChild.remove();
	}
}

// --- To the control process -----------------------------------------------------------

async function ask(button, path) {
	if (button.getAttribute("aria-disabled") === "true") {
		return;
	}
	asking.add(button);
	disable(button, true);
	setText(find("notice"), "");
	const answer = await fetch(path, { method: "POST" }).catch(() => null);
	if (answer === null) {
		setText(find("notice"), "The sample did not answer.");
	}
	else if (!answer.ok) {
		const problem = await answer.json().catch(() => ({}));
		setText(find("notice"), problem.detail || problem.title || "The sample refused this.");
	}
	asking.delete(button);
	if (state !== null) {
		showAll();
	}
}

document.querySelectorAll("[data-step]").forEach((button) =>
	button.addEventListener("click", () => ask(button, "/api/tour/" + button.dataset.step)));

const form = find("controls");

function showControls() {
	const submit = form.querySelector("button");
	disable(submit, isSelling());
	const lease = form.elements.lease;
	if (lease.dataset.known !== "true") {
		lease.dataset.known = "true";
		const configured = state.leaseMillis + "ms";
		if (![...lease.options].some((option) => option.value === configured)) {
			lease.add(new Option(state.leaseMillis / 1000 + " s", configured));
		}
		lease.value = configured;
		lease.disabled = state.fixedLease;
	}
}

function explain() {
	const on = (name) => form.elements[name].checked;
	setText(find("hint"), !on("lock") ? "Without the lock nothing else matters: there is no lease and no token."
			: !on("fence") ? "Without fencing a worker that was frozen past its lease sells seats twice. Start a slow sale, and freeze the holder."
			: !on("renew") ? "Without renewal the lease is the longest hold: customers must not think for longer."
			: "The annotation as it stands in the code below, unless you change the lease.");
}

form.addEventListener("change", explain);

form.addEventListener("submit", (event) => {
	event.preventDefault();
	const on = (name) => form.elements[name].checked ? "on" : "off";
	const [thinkTime, seats] = form.elements.customers.value.split(" ");
	const query = new URLSearchParams({ lock: on("lock"), fence: on("fence"), renew: on("renew"),
			lease: form.elements.lease.value, "think-time": thinkTime, seats });
	ask(form.querySelector("button"), "/api/sales?" + query);
});

// --- Figures of the workers' actuators ------------------------------------------------

async function showFigures() {
	if (document.visibilityState === "visible" && state !== null) {
		const answer = await fetch("/api/figures").catch(() => null);
		if (answer !== null && answer.ok) {
			showRows(await answer.json());
		}
	}
	setTimeout(showFigures, 3000);
}

function showRows(all) {
	const table = find("figures");
	all.forEach((figures, i) => {
		if (table.rows.length === i) {
			const row = table.insertRow();
			const name = document.createElement("th");
			name.scope = "row";
			name.textContent = figures.worker;
			row.append(name);
			for (let cell = 0; cell < 5; cell++) {
				row.insertCell();
			}
		}
		const cells = table.rows[i].cells;
		const unknown = figures.acquired === null;
		[figures.acquired, figures.meanWaitMillis + " ms", figures.renewed, figures.lost].forEach((value, cell) =>
			setText(cells[cell + 1], unknown ? "–" : String(value)));
		showLinks(cells[5], figures);
	});
}

// Links that stay the same keep the focus of the keyboard.
function showLinks(cell, figures) {
	if (cell.dataset.actuator === String(figures.actuator)) {
		return;
	}
	cell.dataset.actuator = String(figures.actuator);
	cell.replaceChildren();
	if (figures.actuator !== null) {
		[["health", "/health"], ["locks", "/distributedlocks"], ["metrics", "/metrics/distributed.lock.acquire"],
				["scrape", "/prometheus"]].forEach(([text, path]) => {
			const link = document.createElement("a");
			link.href = figures.actuator + path;
			link.textContent = text;
			link.setAttribute("aria-label", text + " of worker " + figures.worker);
			cell.append(link, " ");
		});
	}
}

explain();
requestAnimationFrame(drawLeases);
showFigures();
