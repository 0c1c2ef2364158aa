import Fieldpack
import FieldpackCore

/// Where photos are looked for.
enum PhotoOrigin: Hashable, Sendable {
  case flickr
  case layer(SourceName)
}

extension ValueForm where Value == PhotoOrigin {
  /// `flickr`, or a GeoPackage and a layer of it.
  static var photos: ValueForm {
    ValueForm("flickr|gpkg:layer", completion: .choices(["flickr"])) {
      (text) throws(ValueError) -> PhotoOrigin in
      if text == "flickr" { return .flickr }
      let source = try SourceName(text)
      guard source.layer != nil else {
        throw ValueError("is neither flickr nor a GeoPackage and a layer, FILE:LAYER")
      }
      return .layer(source)
    }
  }
}

extension OptionReader {
  /// How far from its point a picture may be.
  mutating func photoDistance() -> Double? {
    value(
      "max-distance", .number("m", atLeast: 1), shownDefault: "500",
      help: "How far from its point a picture may be, in metres.")
  }
}

extension PhotoFetch.Settings {
  /// - Parameter distance: in metres.
  init(within distance: Double?) {
    self.init()
    radii = PhotoFetch.radii(within: distance ?? 500)
  }
}

extension Invocation {
  /// Finds out whether photos can be had, before anything is made for them.
  func checkPhotos(of origin: PhotoOrigin?) async throws(FieldpackError) {
    guard let origin else { return }
    try await withPhotos(of: origin) { (_) throws(FieldpackError) in }
  }

  /// Opens what photos are looked for in, runs `body` and closes it, whatever happens.
  func withPhotos<R: Sendable>(
    of origin: PhotoOrigin, _ body: (any PhotoProvider) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    guard case .layer(let source) = origin, let layer = source.layer else {
      return try await body(FlickrProvider())
    }
    let file = source.path
    return try await withGeoPackage(file) { (store) async throws(FieldpackError) in
      // Two files that are called the same are two albums, but a file may move.
      let name = file.split(separator: "/").last.map(String.init) ?? file
      let provider = try await LayerPhotoProvider(
        store: store, layer: layer, name: "\(name):\(layer)")
      return try await body(provider)
    }
  }
}
