// Sharpens a picture: reads a PNG, runs the compiled program, writes a PNG.

#include <png.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "unsharp_mask.h"

namespace {

struct Picture {
  std::int64_t height;
  std::int64_t width;
  std::vector<png_byte> pixels;  // [height, width, 3]
};

// libpng's description of a picture, which it keeps memory of until it is freed.
struct Image {
  png_image png;
  Image() {
    std::memset(&png, 0, sizeof png);
    png.version = PNG_IMAGE_VERSION;
  }
  ~Image() { png_image_free(&png); }
};

bool Read(const char* path, Picture* picture, std::string* mistake) {
  Image image;
  if (png_image_begin_read_from_file(&image.png, path)) {
    image.png.format = PNG_FORMAT_RGB;
    picture->height = image.png.height;
    picture->width = image.png.width;
    picture->pixels.resize(PNG_IMAGE_SIZE(image.png));
    const png_color background = {255, 255, 255};
    if (png_image_finish_read(&image.png, &background, picture->pixels.data(), 0, nullptr)) {
      return true;
    }
  }
  *mistake = image.png.message;
  return false;
}

// The file appears whole or not at all.
bool Write(const std::string& path, const Picture& picture, std::string* mistake) {
  Image image;
  image.png.height = static_cast<png_uint_32>(picture.height);
  image.png.width = static_cast<png_uint_32>(picture.width);
  image.png.format = PNG_FORMAT_RGB;
  const std::string partial = path + ".partial";
  if (!png_image_write_to_file(&image.png, partial.c_str(), 0, picture.pixels.data(), 0, nullptr)) {
    *mistake = image.png.message;
  } else if (std::rename(partial.c_str(), path.c_str()) != 0) {
    *mistake = "it cannot be written";
  } else {
    return true;
  }
  std::remove(partial.c_str());
  return false;
}

// From [height, width, 3] of bytes to [3, height, width] from 0 to 1, and back.
std::vector<float> Planes(const Picture& picture) {
  const std::int64_t plane = picture.height * picture.width;
  std::vector<float> planes(3 * plane);
  for (std::int64_t i = 0; i < plane; ++i) {
    for (int c = 0; c < 3; ++c) planes[c * plane + i] = picture.pixels[3 * i + c] / 255.0f;
  }
  return planes;
}

void TakePlanes(const std::vector<float>& planes, Picture* picture) {
  const std::int64_t plane = picture->height * picture->width;
  for (std::int64_t i = 0; i < plane; ++i) {
    for (int c = 0; c < 3; ++c) {
      picture->pixels[3 * i + c] = static_cast<png_byte>(planes[c * plane + i] * 255.0f + 0.5f);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s picture.png sharpened.png\n", argv[0]);
    return 2;
  }
  Picture picture;
  std::string mistake;
  if (!Read(argv[1], &picture, &mistake)) {
    std::fprintf(stderr, "%s: %s\n", argv[1], mistake.c_str());
    return 1;
  }
  const std::vector<float> image = Planes(picture);
  std::vector<float> sharpened(image.size());
  const int code = unsharp_mask(image.data(), sharpened.data(), picture.height, picture.width);
  if (code != 0) {
    std::fprintf(stderr, "%s: %s\n", argv[1], unsharp_mask_error(code));
    return 1;
  }
  TakePlanes(sharpened, &picture);
  if (!Write(argv[2], picture, &mistake)) {
    std::fprintf(stderr, "%s: %s\n", argv[2], mistake.c_str());
    return 1;
  }
  return 0;
}
