import CArrow
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `fieldpack_arrow_open`: see `fieldpack_arrow.h`.
@_cdecl("fieldpack_arrow_open")
public func openArrow(
  _ path: UnsafePointer<CChar>?, _ layer: UnsafePointer<CChar>?, _ box: UnsafePointer<Double>?,
  _ stream: UnsafeMutableRawPointer?, _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
  guard let path, let stream = stream?.assumingMemoryBound(to: ArrowArrayStream.self) else {
    return EINVAL
  }
  let file = String(cString: path)
  var query = Query(layers: layer.map { [LayerID(String(cString: $0))] } ?? [])
  if let box {
    query = query.where(
      .envelope(
        .intersects, Envelope(minX: box[0], minY: box[1], maxX: box[2], maxY: box[3])))
  }
  do throws(FieldpackError) {
    let asked = query
    let (store, answer) = try waitFor { () async throws(FieldpackError) in
      let store = try await GeoPackageStore(path: file, id: "file")
      do throws(FieldpackError) {
        return (store, try await store.arrowStream(asked))
      } catch {
        await store.close()
        throw error
      }
    }
    answer.export(to: stream) {
      // The file is as it was when the release returns.
      try? waitFor { () async throws(FieldpackError) in await store.close() }
    }
    return 0
  } catch {
    message?.pointee = strdup(error.message)
    return error.systemCode
  }
}

/// `fieldpack_arrow_free`: see `fieldpack_arrow.h`.
@_cdecl("fieldpack_arrow_free")
public func freeArrow(_ message: UnsafeMutablePointer<CChar>?) { free(message) }
