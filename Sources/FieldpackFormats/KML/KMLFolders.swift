import FieldpackCore

/// The documents and folders of a file, each of them a layer where it has features.
struct KMLFolders {
  private struct Folder {
    /// From 0, as the start tags come.
    var number: Int
    /// What GDAL's driver calls it where it has no name.
    var defaultName: String?
    var name: String?
    /// Features and folders in it so far.
    var members = 0
    var builder: KMLLayerBuilder?
  }

  private let options: ReadOptions
  private let asked: [FileLayer]
  /// The open ones; the first is the file's outermost, or stands for it.
  private var open = [Folder(number: 0)]
  /// Folders inside an outermost one are members of it.
  private var hasRoot = false
  private var total = 1
  private var names: Set<String> = []
  /// By the number of the folder, outermost first.
  private(set) var builders: [KMLLayerBuilder] = []
  private static let maximumCount = 1000

  init(options: ReadOptions, asked: [FileLayer]) {
    self.options = options
    self.asked = asked
  }

  mutating func begin() {
    guard hasRoot else {
      hasRoot = true
      return
    }
    let name = "Layer\(open[open.count - 1].members)"
    count()
    open.append(Folder(number: total, defaultName: name))
    total += 1
  }

  mutating func close() {
    if open.count > 1 { open.removeLast() }
  }

  /// Names the innermost folder, unless a feature of it came before.
  mutating func name(_ name: String) {
    if !name.isEmpty { open[open.count - 1].name = name }
  }

  /// Counts a member of the innermost folder.
  mutating func count() { open[open.count - 1].members += 1 }

  /// The builder of the innermost folder's layer.
  mutating func builder() throws(FieldpackError) -> KMLLayerBuilder {
    let last = open.count - 1
    if let known = open[last].builder { return known }
    guard builders.count < Self.maximumCount else {
      throw FieldpackError(
        .unsupported, "the file has more than \(Self.maximumCount) folders with features")
    }
    let name = layerName(open[last])
    let layer = LayerID(options.prefixesLayers ? prefixed(name) : name ?? options.layer.rawValue)
    let schema = asked.first { $0.schema.layer == layer }?.schema
    let builder = KMLLayerBuilder(
      layer: layer, number: open[last].number,
      isWanted: options.only?.contains(name ?? options.layer.rawValue) ?? true, asked: schema)
    open[last].builder = builder
    let place = builders.firstIndex { $0.number > builder.number } ?? builders.count
    builders.insert(builder, at: place)
    return builder
  }

  private func prefixed(_ name: String?) -> String {
    name.map { "\(options.layer)_\($0)" } ?? options.layer.rawValue
  }

  /// The name of a folder's layer, in one line and unlike those before; `nil` for an outermost
  /// folder without a name.
  private mutating func layerName(_ folder: Folder) -> String? {
    let given = folder.name.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
    guard let base = given ?? folder.defaultName else {
      names.insert(options.layer.rawValue.lowercased())
      return nil
    }
    var (name, number) = (base, 1)
    while !names.insert(name.lowercased()).inserted {
      number += 1
      name = "\(base) (#\(number))"
    }
    return name
  }
}
