// Timelines: search, colours and legend around the canvas of timeline_view.js. The data is read by timeline_data.js.
(function () {
  'use strict';
  const canvas = window.ridgelineCanvas;
  const timeline = window.ridgelineTimeline;
  const make = canvas.make;

  class Panel {
    constructor(figure, data, name) {
      this.data = data;
      this.matches = null;
      const drawing = figure.querySelector('.drawing');
      this.input = make('input', { type: 'search', placeholder: 'Search kernels', 'aria-label': 'Search kernels by name',
        oninput: this.searchSoon.bind(this), onkeydown: this.searchKey.bind(this) });
      this.output = make('output', { role: 'status' });
      const select = make('select', { onchange: function () { this.classify(select.value); }.bind(this) },
        [make('option', { value: 'kernel', text: 'kernels' }), make('option', { value: 'module', text: 'modules' })]);
      const button = function (text, label, action) {
        return make('button', { type: 'button', text: text, 'aria-label': label, title: label, onclick: action });
      };
      this.tools = make('div', { class: 'tools' }, [
        this.input, button('‹', 'Previous match', this.step.bind(this, true)),
        button('›', 'Next match', this.step.bind(this, false)), this.output,
        make('label', { text: 'Colours' }, [select]),
        button('−', 'Zoom out', this.zoom.bind(this, 1 / 0.5)), button('+', 'Zoom in', this.zoom.bind(this, 0.5)),
        button('Whole run', 'Show the whole run', function () { this.view.fit(); }.bind(this))]);
      this.legend = make('ul', { class: 'legend' });
      const stage = make('div', { class: 'stage' });
      drawing.append(this.tools, stage);
      if (data.modules.length < 3) select.parentNode.hidden = true;
      this.titles = data.classifyByName();
      data.apply(null);
      this.view = new timeline.View(stage, data, name);
      this.view.workOnly = data.names.some(timeline.Timeline.isWork);
      drawing.append(this.legend, make('p', { class: 'hint', text: this.hint() }));
      this.showLegend();
      canvas.onTheme(function () {
        this.view.readTheme();
        this.showLegend();
      }.bind(this));
    }

    hint() {
      const levels = this.data.hiddenLevels > 0
        ? ' Of the host ' + (this.data.levels > 0 ? 'only the upper ' + this.data.levels + ' levels are' : 'nothing is') + ' kept here.' : '';
      return 'Wheel or pinch zooms, drag moves, double click shows the whole run; keys: arrows, +, −, 0. Zoomed out, a column is as high as the ' +
        'share of its time that work ran.' + levels;
    }

    classify(mode) {
      this.titles = mode === 'module' ? this.data.classifyByModule() : this.data.classifyByName();
      this.recolour();
      this.showLegend();
    }
    recolour() {
      this.data.apply(this.matches);
      this.view.highlights = this.matches !== null;
      this.view.recolour();
    }

    showLegend() {
      const whole = this.data.workTime;
      const items = [];
      this.titles.forEach(function (title, of) {
        const swatch = make('i');
        swatch.style.background = canvas.colour('--lane-' + timeline.colourNames[of]);
        const text = title.search !== undefined
          ? make('button', { type: 'button', text: title.title, title: title.search, onclick: function () {
            this.input.value = this.input.value === title.search ? '' : title.search;
            this.search();
          }.bind(this) })
          : make('span', { text: title.title, title: title.title });
        const isHost = of === timeline.kModule || of === timeline.kOperation;
        items.push(make('li', {}, [swatch, text].concat(isHost || whole === 0 ? [] : [make('b', { text: canvas.share(title.time, whole) })])));
      }, this);
      this.legend.replaceChildren.apply(this.legend, items);
    }

    zoom(factor) {
      const view = this.view;
      view.zoom(factor, view.pinned ? view.pinned.line.row.start[view.pinned.place] : (view.from + view.to) / 2);
    }

    searchSoon() {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.search.bind(this), 150);
    }
    search() {
      clearTimeout(this.timer);
      const wanted = this.input.value.trim().toLowerCase();
      if (wanted === (this.searched || '')) return;
      this.searched = wanted;
      this.view.pinned = null;
      this.view.tip.hide();
      this.matches = wanted ? this.data.names.map(function (name) { return name.text.toLowerCase().includes(wanted); }) : null;
      this.output.textContent = wanted ? this.found() : '';
      this.recolour();
    }
    found() {
      const sums = { work: [0, 0], host: [0, 0] };
      this.data.names.forEach(function (name, i) {
        if (!this.matches[i]) return;
        const sum = timeline.Timeline.isWork(name) ? sums.work : sums.host;
        sum[0] += name.calls;
        sum[1] += name.time;
      }, this);
      const host = sums.host[0] > 0 ? canvas.count(sums.host[0]) + ' calls on the host, ' + canvas.duration(sums.host[1]) : '';
      if (sums.work[0] === 0) return host || 'nothing has that in its name';
      const part = canvas.share(sums.work[1], this.data.workTime);
      return canvas.count(sums.work[0]) + ' found, ' + canvas.duration(sums.work[1]) + ' in total (' + part + ')';
    }
    searchKey(event) {
      if (event.key === 'Enter') {
        this.step(event.shiftKey);
        event.preventDefault();
      }
      if (event.key === 'Escape') {
        this.input.value = '';
        this.search();
      }
    }
    step(backwards) {
      this.search();
      if (!this.matches) {
        this.input.focus();
        return;
      }
      const next = this.view.findNext(this.matches, backwards);
      if (!next) {
        this.output.textContent = this.found() + (this.view.pinned ? '; no further one' : '');
        return;
      }
      const row = next.line.row;
      this.output.textContent = this.found() + '; shown: at ' + canvas.duration(row.start[next.place]);
      this.view.focus(next.line, next.place);
    }
  }

  async function mount(figure) {
    const source = figure.querySelector('script');
    const drawing = figure.querySelector('.drawing');
    try {
      const data = await timeline.unpack(source.textContent);
      source.remove();
      new Panel(figure, data, figure.querySelector('.alternative').textContent);
      requestAnimationFrame(function () { performance.mark('timeline drawn'); });
    } catch (error) {
      drawing.append(make('p', { class: 'hint', text: typeof DecompressionStream === 'undefined'
        ? 'The timeline needs a newer browser: Chromium 103, Firefox 113 or Safari 16.4.' : 'The timeline could not be drawn: ' + error.message }));
    }
  }

  document.querySelectorAll('figure[data-timeline]').forEach(mount);
})();
