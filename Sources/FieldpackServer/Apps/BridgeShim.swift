/// The script that gives pages of old bundles the bridge that the apps of SpatialConnect gave them.
enum BridgeShim {
  static let name = "spatialconnect-bridge.js"

  /// The element that loads the script, for a page of the bundle with that key.
  static func element(base: LinkBase, key: String) -> String {
    "<script src=\"\(base.href([name]))\" data-key=\"\(key)\"></script>"
  }

  static let script = #"""
    // The bridge between a page and SpatialConnect's services, as its apps gave it to their pages.
    (function () {
      'use strict';
      if (window.WebViewJavascriptBridge) { return; }
      var element = document.currentScript;
      var key = element && element.getAttribute('data-key');
      var base = element && element.src ? element.src.replace(/[^\/]*$/, '') : '/';
      var access = key ? 'key=' + encodeURIComponent(key) : '';
      // What goes on until the page ends, and is asked for again after the connection was lost.
      var lasting = /^(100|102|117|200|303|600|601|602|702|v1\/.*(LIST|GPS|LOGIN_STATUS|NOTIF.*|CONNECTED))$/;
      var handlers = {};
      var asked = {};
      var queue = [];
      var session = null;
      var isSending = false;
      var last = 0;

      function address(path, parameters) {
        var all = parameters.filter(Boolean).join('&');
        return base + path + (all ? '?' + all : '');
      }

      function flush() {
        if (isSending || !session || queue.length === 0) { return; }
        isSending = true;
        var sent = queue;
        queue = [];
        var request = new XMLHttpRequest();
        request.open('POST', address('bridge', ['session=' + session, access]));
        // Of a type that pages may send without asking first.
        request.setRequestHeader('Content-Type', 'text/plain');
        request.onloadend = function () {
          isSending = false;
          var isLost = request.status === 404 || request.status === 0;
          if (!isLost && request.status < 500) { return flush(); }
          // Nothing was taken: what was sent waits for the next session, or for a better time.
          queue = sent.concat(queue);
          if (isLost) {
            session = null;
            source.close();
          }
          setTimeout(isLost ? connect : flush, 1000);
        };
        request.send(sent.join('\n'));
      }

      function dispatch(message) {
        var name = message.event;
        var end = name.replace(/_(completed|error)$/, '');
        if (end !== name) { delete asked[end]; }
        var handler = handlers[name];
        if (!handler) { return; }
        try {
          handler(message.data, function () {});
        } catch (error) {
          if (window.console) { console.error('WebViewJavascriptBridge: a handler threw', error); }
        }
      }

      function send(data, callback) {
        var message = typeof data === 'string' ? JSON.parse(data) : data;
        if (message === null || typeof message !== 'object') { return; }
        var copy = {};
        Object.keys(message).forEach(function (name) { copy[name] = message[name]; });
        if (callback && !copy.responseId) {
          last += 1;
          copy.responseId = 'cb_' + last + '_' + Date.now();
          handlers[copy.responseId] = function (answer) { callback(answer.payload); };
        }
        var type = String(copy.type === undefined ? copy.action : copy.type);
        if (lasting.test(type)) { asked[copy.responseId || type] = JSON.stringify(copy); }
        queue.push(JSON.stringify(copy));
        flush();
      }

      var source = null;

      function connect() {
        source = new EventSource(address('bridge/events', [access]));
        source.addEventListener('session', function (event) {
          Object.keys(asked).forEach(function (name) {
            if (queue.indexOf(asked[name]) < 0) { queue.push(asked[name]); }
          });
          session = event.data;
          flush();
        });
        source.onmessage = function (event) { dispatch(JSON.parse(event.data)); };
      }
      connect();

      window.WebViewJavascriptBridge = {
        init: function (handler) { this._messageHandler = handler; },
        send: send,
        registerHandler: function (name, handler) { handlers[String(name)] = handler; },
        callHandler: function (name, data, callback) { send(data, callback); }
      };

      function ready() {
        var event = document.createEvent('Events');
        event.initEvent('WebViewJavascriptBridgeReady', true, true);
        event.bridge = window.WebViewJavascriptBridge;
        document.dispatchEvent(event);
      }
      if (document.readyState === 'loading') {
        document.addEventListener('DOMContentLoaded', ready);
      } else {
        setTimeout(ready, 0);
      }
    }());

    """#
}
