package import FieldpackCore

/// A document as a page of HTML: the same members as in JSON, with links to follow.
///
/// The page needs nothing else, has no script, and shows texts as texts only.
package struct DocumentPage {
  private let path: [String]
  private let title: String
  private let tree: JSONValue
  private let base: LinkBase

  /// - Parameter path: of the document, for the links to what is above it.
  package init(_ path: [String], title: String, _ tree: JSONValue, base: LinkBase) {
    self.path = path
    self.title = title
    self.tree = tree
    self.base = base
  }

  package var bytes: [UInt8] { page { $0.value(tree, depth: 2) } }

  /// The page of an API document: its operations, without the schemas.
  var apiBytes: [UInt8] { page { $0.operations(of: tree) } }

  private func page(_ body: (inout PageWriter) -> Void) -> [UInt8] {
    var writer = PageWriter()
    writer.add(Self.head(title))
    writer.add("<nav aria-label=\"Above\">")
    writer.link(base.href(query: ["f": "html"]), "Home")
    for count in path.indices {
      writer.add(" / ")
      writer.link(base.href(Array(path[...count]), query: ["f": "html"]), path[count])
    }
    writer.add("</nav>\n<main>\n<h1>\(PageWriter.escaped(title))</h1>\n")
    body(&writer)
    writer.add("</main>\n</body>\n</html>\n")
    return writer.bytes
  }

  // MARK: Head

  /// The `Content-Security-Policy` of pages: no script, and no style but this one.
  package static let policy: String = {
    let digest = Base64.encode(SHA256.digest(Array(style.utf8)))
    return "default-src 'none'; style-src 'sha256-\(digest)'; base-uri 'none'; "
      + "form-action 'none'; frame-ancestors 'none'"
  }()

  private static func head(_ title: String) -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>\(PageWriter.escaped(title))</title>
    <style>\(style)</style>
    </head>
    <body>

    """
  }

  private static let style = """
    :root { --ground: #fff; --ink: #222; --faint: #5c5c5c; --rim: #ddd; --link: #0b57a4;
      color-scheme: light dark; }
    @media (prefers-color-scheme: dark) { :root { --ground: #1c1e21; --ink: #e8e8e8;
      --faint: #a9a9a9; --rim: #444; --link: #8ab8f0; } }
    body { margin: 0 auto; max-width: 60rem; padding: 1rem; background: var(--ground);
      color: var(--ink); font: 1rem/1.5 system-ui, 'DejaVu Sans', sans-serif;
      overflow-wrap: anywhere; }
    a { color: var(--link); }
    h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; } h3, h4, h5, h6 { font-size: 1rem; }
    h2, h3, h4, h5, h6 { margin: 1rem 0 .2rem; }
    nav, .type { color: var(--faint); font-size: .9rem; }
    dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .2rem 1rem;
      margin: .4rem 0; }
    dt { color: var(--faint); } dd { margin: 0; }
    ul { margin: .2rem 0; padding-left: 1.2rem; }
    section { border-top: 1px solid var(--rim); }
    code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; }
    @media (max-width: 32rem) { dl { grid-template-columns: 1fr; gap: 0; }
      dd { margin: 0 0 .4rem 1rem; } }
    """
}

/// HTML as bytes, element by element.
private struct PageWriter {
  var bytes: [UInt8] = []

  mutating func add(_ markup: String) { bytes.append(contentsOf: markup.utf8) }

  /// `text` as the content of an element or attribute; what cannot be seen is spelled out.
  static func escaped(_ text: String) -> String { XMLText.escaped(DisplayText.visible(text)) }

  mutating func link(_ href: String, _ text: String) {
    add("<a href=\"\(Self.escaped(href))\">\(Self.escaped(text))</a>")
  }

  // MARK: Members

  /// - Parameter depth: of headings within.
  mutating func value(_ value: JSONValue, depth: Int) {
    switch value {
    case .object(let members): object(members, depth: depth)
    case .array(let items): array(items, depth: depth)
    default: add(Self.escaped(Self.text(value)))
    }
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .text(let text): text
    case .null: "none"
    default: value.text
    }
  }

  private mutating func object(_ members: [JSONValue.Member], depth: Int) {
    let links = members.first { $0.name == "links" }
    let (large, small) = members.filter { $0.name != "links" }.partitioned(by: Self.isLarge)
    if !small.isEmpty {
      add("<dl>\n")
      for member in small {
        add("<dt>\(Self.escaped(member.name))</dt><dd>")
        value(member.value, depth: depth)
        add("</dd>\n")
      }
      add("</dl>\n")
    }
    if let links, case .array(let items) = links.value { self.links(items) }
    for member in large {
      let level = min(depth, 6)
      add("<section>\n<h\(level)>\(Self.escaped(member.name))</h\(level)>\n")
      value(member.value, depth: depth + 1)
      add("</section>\n")
    }
  }

  /// Whether a member has a section of its own.
  private static func isLarge(_ member: JSONValue.Member) -> Bool {
    switch member.value {
    case .object: true
    case .array(let items):
      items.contains {
        if case .object = $0 { true } else { false }
      } || items.count > 8
    default: false
    }
  }

  private mutating func array(_ items: [JSONValue], depth: Int) {
    let isPlain = items.allSatisfy {
      switch $0 {
      case .object, .array: false
      default: true
      }
    }
    if isPlain, items.count <= 8 {
      add(Self.escaped(items.map(Self.text).joined(separator: ", ")))
      return
    }
    let isOfObjects = items.contains { if case .object = $0 { true } else { false } }
    guard isOfObjects else {
      add("<ul>\n")
      for item in items {
        add("<li>")
        value(item, depth: depth)
        add("</li>\n")
      }
      add("</ul>\n")
      return
    }
    for item in items {
      let level = min(depth, 6)
      if let name = Self.name(of: item) {
        add("<h\(level)>\(Self.escaped(name))</h\(level)>\n")
      }
      value(item, depth: depth + 1)
    }
  }

  private static func name(of item: JSONValue) -> String? {
    (item["title"] ?? item["name"] ?? item["id"])?.string
  }

  private mutating func links(_ items: [JSONValue]) {
    add("<ul>\n")
    for item in items {
      guard let href = item["href"]?.string else { continue }
      let title = item["title"]?.string ?? item["rel"]?.string ?? href
      add("<li>")
      // An address with variables leads nowhere.
      if item["templated"] == .boolean(true) {
        add("\(Self.escaped(title)): <code>\(Self.escaped(href))</code>")
      } else {
        link(href, title)
      }
      if let type = item["type"]?.string {
        add(" <span class=\"type\">\(Self.escaped(type))</span>")
      }
      add("</li>\n")
    }
    add("</ul>\n")
  }

  // MARK: The API

  mutating func operations(of api: JSONValue) {
    if let text = api["info"]?["description"]?.string { add("<p>\(Self.escaped(text))</p>\n") }
    guard case .object(let paths)? = api["paths"] else { return }
    for path in paths {
      guard case .object(let methods) = path.value else { continue }
      for method in methods where method.name != "parameters" {
        operation(method, at: path.name, in: api)
      }
    }
  }

  private mutating func operation(
    _ method: JSONValue.Member, at path: String, in api: JSONValue
  ) {
    add("<section>\n<h2><code>\(Self.escaped(method.name.uppercased() + " " + path))</code></h2>\n")
    if let summary = method.value["summary"]?.string {
      add("<p>\(Self.escaped(summary))</p>\n")
    }
    if case .array(let parameters)? = method.value["parameters"], !parameters.isEmpty {
      add("<dl>\n")
      for parameter in parameters {
        let name = parameter["$ref"]?.string?.split(separator: "/").last.map(String.init)
        let meant = name.flatMap { api["components"]?["parameters"]?[$0] } ?? parameter
        add("<dt>\(Self.escaped(meant["name"]?.string ?? ""))</dt>")
        add("<dd>\(Self.escaped(meant["description"]?.string ?? ""))</dd>\n")
      }
      add("</dl>\n")
    }
    add("</section>\n")
  }
}

extension Array {
  /// The elements that a condition holds for, and the others.
  fileprivate func partitioned(by isFirst: (Element) -> Bool) -> ([Element], [Element]) {
    (filter(isFirst), filter { !isFirst($0) })
  }
}
